package extsort

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

type edge [3]uint32

func randomEdges(n int, span uint32) []edge {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	edges := make([]edge, n)
	for i := range edges {
		edges[i] = edge{r.Uint32N(span), r.Uint32N(max(1, span/7)), r.Uint32N(span)}
	}
	return edges
}

func compareEdges(a, b edge) int { return slices.Compare(a[:], b[:]) }

func files(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestRecords(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory int
		n      int
		span   uint32
		runs   bool
	}{
		{"nothing", 1 << 20, 0, 10, false},
		{"one record", 1 << 20, 1, 10, false},
		{"a few in memory", 1 << 20, 500, 1 << 31, false},
		{"many in memory", 1 << 24, 20_000, 1 << 31, false},
		{"many alike in memory", 1 << 20, 20_000, 3, false},
		{"two runs", 1 << 17, 10_000, 1 << 20, true},
		{"more runs than are merged at once", 1 << 12, 20_000, 1 << 31, true},
		{"many alike in runs", 1 << 12, 20_000, 2, true},
		{"hardly any memory", 1, 1000, 100, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := NewRecords[edge](Options{Dir: dir, Memory: c.memory})
			want := randomEdges(c.n, c.span)
			for _, e := range want {
				if err := s.Add(e); err != nil {
					t.Fatal(err)
				}
			}
			if s.Len() != int64(c.n) {
				t.Errorf("%d records, want %d", s.Len(), c.n)
			}
			slices.SortFunc(want, compareEdges)
			for range 2 {
				var got []edge
				if err := s.Each(t.Context(), func(e edge) error { got = append(got, e); return nil }); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%d records, want %d; or they are out of order", len(got), len(want))
				}
			}
			if n := files(t, dir); (n > 0) != c.runs {
				t.Errorf("%d files, want some: %v", n, c.runs)
			}
			if err := s.Close(); err != nil || files(t, dir) != 0 {
				t.Errorf("after Close %d files are left, error %v", files(t, dir), err)
			}
		})
	}
}

func TestRunsAddedBesideRecordsAreMergedWithThem(t *testing.T) {
	s := NewRecords[edge](Options{Dir: t.TempDir(), Memory: 1 << 14})
	defer s.Close()
	want := randomEdges(3000, 1000)
	done := make(chan error)
	for part := range 2 {
		go func() {
			done <- s.AddRun(slices.Clone(want[1000*part:][:1000]), nil)
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddRun(nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range want[2000:] {
		if err := s.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(want, compareEdges)
	r, err := s.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := make([]edge, 4000)
	n, err := r.Read(got)
	if err != io.EOF || !slices.Equal(got[:n], want) {
		t.Errorf("%d records, error %v", n, err)
	}
}

type pair struct {
	key   string
	value uint64
}

func comparePairs(a, b pair) int {
	return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.value, b.value))
}

func randomPairs(n, alphabet, longest int) []pair {
	r := rand.New(rand.NewPCG(2, uint64(n)))
	pairs := make([]pair, n)
	for i := range pairs {
		key := make([]byte, r.IntN(longest))
		for j := range key {
			key[j] = byte(r.IntN(alphabet))
		}
		pairs[i] = pair{"http://example.org/" + string(key), r.Uint64N(5)}
	}
	return pairs
}

func collect(t *testing.T, s *Strings) []pair {
	t.Helper()
	var got []pair
	if err := s.Each(t.Context(), func(key []byte, value uint64) error {
		got = append(got, pair{string(key), value})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestStrings(t *testing.T) {
	for _, c := range []struct {
		name                         string
		memory, n, alphabet, longest int
		runs                         bool
	}{
		{"nothing", 1 << 20, 0, 2, 2, false},
		{"one key", 1 << 20, 1, 2, 2, false},
		{"many in memory", 1 << 24, 20_000, 256, 30, false},
		{"many alike in memory", 1 << 22, 20_000, 2, 4, false},
		{"two runs", 1 << 20, 10_000, 256, 20, true},
		{"more runs than are merged at once", 1 << 12, 5_000, 256, 20, true},
		{"many alike in runs", 1 << 12, 5_000, 2, 3, true},
		{"keys longer than the memory", 1 << 10, 20, 256, 5_000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := NewStrings(Options{Dir: dir, Memory: c.memory})
			want := randomPairs(c.n, c.alphabet, c.longest)
			for _, p := range want {
				if err := s.Add([]byte(p.key), p.value); err != nil {
					t.Fatal(err)
				}
			}
			if s.Len() != int64(c.n) {
				t.Errorf("%d keys, want %d", s.Len(), c.n)
			}
			slices.SortFunc(want, comparePairs)
			for range 2 {
				if got := collect(t, s); !slices.Equal(got, want) {
					t.Fatalf("%d keys, want %d; or they are out of order", len(got), len(want))
				}
			}
			if n := files(t, dir); (n > 0) != c.runs {
				t.Errorf("%d files, want some: %v", n, c.runs)
			}
			if err := s.Close(); err != nil || files(t, dir) != 0 {
				t.Errorf("after Close %d files are left, error %v", files(t, dir), err)
			}
		})
	}
}

func FuzzStrings(f *testing.F) {
	f.Add("b\na\n\nab\na", 100)
	f.Add("\x00\n\xff\x00\n\xff", 1)
	f.Add(strings.Repeat("same\n", 50), 1<<20)
	f.Fuzz(func(t *testing.T, text string, memory int) {
		s := NewStrings(Options{Dir: t.TempDir(), Memory: memory % (1 << 22)})
		defer s.Close()
		var want []pair
		for i, key := range strings.Split(text, "\n") {
			want = append(want, pair{key, uint64(i % 3)})
			if err := s.Add([]byte(key), uint64(i%3)); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, comparePairs)
		if got := collect(t, s); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func FuzzSort(f *testing.F) {
	f.Add([]byte("some bytes that are records"), uint16(700))
	f.Add([]byte{1, 0, 0, 0, 1, 0, 0, 0}, uint16(3))
	f.Fuzz(func(t *testing.T, raw []byte, times uint16) {
		var records [][2]uint32
		for len(raw) >= 8 {
			n := uint32(len(records))
			records = append(records, [2]uint32{
				uint32(raw[0]) | uint32(raw[1])<<8 | uint32(raw[2])<<16 | uint32(raw[3])<<24,
				uint32(raw[4]) | uint32(raw[5])<<24 + n,
			})
			raw = raw[8:]
		}
		records = slices.Repeat(records, int(times%1024))
		want := slices.Clone(records)
		slices.SortFunc(want, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
		Sort(records, nil)
		if !slices.Equal(records, want) {
			t.Errorf("%d records are out of order", len(records))
		}
	})
}

func TestCancelStopsReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	records := NewRecords[edge](Options{})
	keys := NewStrings(Options{})
	if err := errors.Join(records.Add(edge{}), keys.Add(nil, 1)); err != nil {
		t.Fatal(err)
	}
	if err := records.Each(ctx, func(edge) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := keys.Each(ctx, func([]byte, uint64) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	stop := errors.New("stop")
	if err := records.Each(t.Context(), func(edge) error { return stop }); err != stop {
		t.Error(err)
	}
	if err := keys.Each(t.Context(), func([]byte, uint64) error { return stop }); err != stop {
		t.Error(err)
	}
}

var errShort = errors.New("write half and say nothing")

// failingDisk fails the n-th of its operations.
type failingDisk struct {
	osDisk
	at, calls int
	failed    string
	err       error
}

func (d *failingDisk) next(operation string) error {
	d.calls++
	if d.calls-1 == d.at {
		d.failed = operation
		return d.err
	}
	return nil
}

func (d *failingDisk) CreateTemp(dir, pattern string) (File, error) {
	if err := d.next("create"); err != nil {
		return nil, err
	}
	f, err := d.osDisk.CreateTemp(dir, pattern)
	return &failingFile{f, d}, err
}

func (d *failingDisk) Open(path string) (io.ReadCloser, error) {
	if err := d.next("open"); err != nil {
		return nil, err
	}
	f, err := d.osDisk.Open(path)
	return &failingReads{f, d}, err
}

func (d *failingDisk) Remove(path string) error {
	return errors.Join(d.osDisk.Remove(path), d.next("remove"))
}

type failingFile struct {
	File
	disk *failingDisk
}

func (f *failingFile) Write(p []byte) (int, error) {
	if err := f.disk.next("write"); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		if errors.Is(err, errShort) {
			err = nil
		}
		return n, err
	}
	return f.File.Write(p)
}

func (f *failingFile) Close() error { return errors.Join(f.File.Close(), f.disk.next("close")) }

type failingReads struct {
	io.ReadCloser
	disk *failingDisk
}

func (f *failingReads) Read(p []byte) (int, error) {
	if err := f.disk.next("read"); err != nil {
		return 0, err
	}
	return f.ReadCloser.Read(p)
}

// TestAFailingDisk fails every operation in turn: the error must come out and
// nothing be left behind.
func TestAFailingDisk(t *testing.T) {
	for name, sortAll := range map[string]func(Options) error{
		"records": func(o Options) (err error) {
			s := NewRecords[edge](o)
			defer func() { err = errors.Join(err, s.Close()) }()
			for _, e := range randomEdges(600, 50) {
				if err := s.Add(e); err != nil {
					return err
				}
			}
			n := 0
			err = s.Each(context.Background(), func(edge) error { n++; return nil })
			if err == nil && n != 600 {
				t.Errorf("%d records and no error", n)
			}
			return err
		},
		"strings": func(o Options) (err error) {
			s := NewStrings(o)
			defer func() { err = errors.Join(err, s.Close()) }()
			for _, p := range randomPairs(150, 256, 20) {
				if err := s.Add([]byte(p.key), p.value); err != nil {
					return err
				}
			}
			n := 0
			err = s.Each(context.Background(), func([]byte, uint64) error { n++; return nil })
			if err == nil && n != 150 {
				t.Errorf("%d keys and no error", n)
			}
			return err
		},
	} {
		for _, fault := range []error{syscall.ENOSPC, io.ErrUnexpectedEOF, errShort} {
			t.Run(fmt.Sprintf("%s: %v", name, fault), func(t *testing.T) {
				dir := t.TempDir()
				for at := 0; ; at++ {
					disk := &failingDisk{at: at, err: fault}
					err := sortAll(Options{Dir: dir, Memory: 1 << 11, Disk: disk})
					if n := files(t, dir); n != 0 {
						t.Fatalf("operation %d, %s: %d files are left behind", at, disk.failed, n)
					}
					if disk.failed == "" {
						if err != nil {
							t.Fatal(err)
						}
						t.Logf("%d operations", at)
						return
					}
					if disk.failed == "write" && errors.Is(fault, errShort) {
						// What was left of a write may have been made up for: then
						// all records are there, as sortAll checks.
						continue
					}
					if err == nil || !strings.HasPrefix(err.Error(), "sort: ") {
						t.Fatalf("operation %d, %s: error is %v", at, disk.failed, err)
					}
					if disk.failed != "read" && !errors.Is(err, fault) {
						t.Fatalf("operation %d, %s: error is %v", at, disk.failed, err)
					}
				}
			})
		}
	}
}

func TestATruncatedOrCorruptRun(t *testing.T) {
	dir := t.TempDir()
	for name, spoil := range map[string]func([]byte) []byte{
		"cut off": func(b []byte) []byte { return b[:len(b)-3] },
		"empty":   func([]byte) []byte { return nil },
		"damaged": func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) },
	} {
		s := NewStrings(Options{Dir: dir, Memory: 1 << 11})
		for _, p := range randomPairs(100, 256, 20) {
			if err := s.Add([]byte(p.key), p.value); err != nil {
				t.Fatal(err)
			}
		}
		path := s.runs.files[0].path
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, spoil(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		err = s.Each(t.Context(), func([]byte, uint64) error { return nil })
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("a run that is %s: error is %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	for _, memory := range []int{1 << 28, 1 << 22} {
		b.Run(fmt.Sprintf("memory=%dMiB", memory>>20), func(b *testing.B) {
			const n = 1 << 20
			edges := randomEdges(n, n)
			for b.Loop() {
				s := NewRecords[edge](Options{Dir: b.TempDir(), Memory: memory})
				for _, e := range edges {
					if err := s.Add(e); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Each(b.Context(), func(edge) error { return nil }); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkStrings(b *testing.B) {
	for _, memory := range []int{1 << 28, 1 << 22} {
		b.Run(fmt.Sprintf("memory=%dMiB", memory>>20), func(b *testing.B) {
			const n = 1 << 18
			pairs := randomPairs(n, 256, 30)
			for b.Loop() {
				s := NewStrings(Options{Dir: b.TempDir(), Memory: memory})
				for _, p := range pairs {
					if err := s.Add([]byte(p.key), p.value); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Each(b.Context(), func([]byte, uint64) error { return nil }); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}
