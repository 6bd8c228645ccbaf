package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// failingDisk fails the n-th of its operations and counts them all.
type failingDisk struct {
	osDisk
	fail  func(operation string) error
	calls []string
	at    int
}

func (d *failingDisk) next(operation string) error {
	d.calls = append(d.calls, operation)
	if len(d.calls)-1 == d.at {
		return d.fail(operation)
	}
	return nil
}

func (d *failingDisk) Create(path string) (file, error) {
	if err := d.next("create"); err != nil {
		return nil, err
	}
	f, err := d.osDisk.Create(path)
	return &failingFile{f, d}, err
}

func (d *failingDisk) MkdirAll(path string) error {
	if err := d.next("mkdir"); err != nil {
		return err
	}
	return d.osDisk.MkdirAll(path)
}

func (d *failingDisk) Rename(from, to string) error {
	if err := d.next("rename"); err != nil {
		return err
	}
	return d.osDisk.Rename(from, to)
}

func (d *failingDisk) SyncDir(path string) error {
	if err := d.next("sync dir"); err != nil {
		return err
	}
	return d.osDisk.SyncDir(path)
}

type failingFile struct {
	file
	disk *failingDisk
}

var errShort = errors.New("write half and say nothing")

func (f *failingFile) Write(p []byte) (int, error) {
	err := f.disk.next("write")
	if errors.Is(err, errShort) {
		n, err := f.file.Write(p[:len(p)/2])
		return n, err
	}
	if err != nil {
		return 0, err
	}
	return f.file.Write(p)
}

func (f *failingFile) Sync() error {
	// Real syncs would make hundreds of builds slow.
	return f.disk.next("sync")
}

func (f *failingFile) Close() error {
	return errors.Join(f.file.Close(), f.disk.next("close"))
}

// tree lists all files of a directory with their sizes.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == lockName {
			return err
		}
		info, err := e.Info()
		found = append(found, fmt.Sprintf("%s %d", strings.TrimPrefix(path, dir), info.Size()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestAFailingDiskLosesNothing fails every operation of a load in turn. The
// snapshot before must stay active, and nothing of the new one remain.
func TestAFailingDiskLosesNothing(t *testing.T) {
	failures := 0
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"the disk is full":            {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, store.ErrFull},
		"the quota is used up":        {syscall.EDQUOT, store.ErrFull},
		"the disk is broken":          {syscall.EIO, syscall.EIO},
		"a write is short but silent": {errShort, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			before := storetest.Build(t, s, "world", storetest.World()[:3])
			left := tree(t, s.dir)
			content := storetest.Content(t, storetest.World())
			for at := 0; ; at++ {
				broken := &failingDisk{at: at, fail: func(operation string) error {
					if errors.Is(c.err, errShort) && operation != "write" {
						return syscall.EIO
					}
					return c.err
				}}
				s.disk = broken
				info, err := s.Write(t.Context(), "world", content)
				if len(broken.calls) <= at {
					if err != nil {
						t.Fatalf("nothing failed, but: %v", err)
					}
					failures += at
					return
				}
				failed := broken.calls[at]
				if err == nil || c.want != nil && !errors.Is(err, c.want) {
					t.Fatalf("operation %d, %s: error is %v, want %v", at, failed, err, c.want)
				}
				if info != (store.Info{}) {
					t.Errorf("operation %d, %s: a snapshot comes with the error: %+v", at, failed, info)
				}
				if now := tree(t, s.dir); !slices.Equal(now, left) {
					t.Fatalf("operation %d, %s: left behind\n%v\nwant\n%v", at, failed, now, left)
				}
				if got := storetest.Open(t, s, "world", 0).Info().Number; got != before {
					t.Fatalf("operation %d, %s: %d is active, want %d", at, failed, got, before)
				}
			}
		})
	}
	testkit.Measured(t, "%d operations of loads fail in turn: 0 lost", failures)
}

// TestWhatDoesNotFitInMemoryIsSortedOnDisk builds with next to no memory, and
// fails some of the operations on the disk meanwhile.
func TestWhatDoesNotFitInMemoryIsSortedOnDisk(t *testing.T) {
	var facts []store.Fact
	for i := range 60 {
		facts = append(facts, store.Fact{
			Subject:  store.NamedEntity{Name: fmt.Sprintf("the subject of number %d", i/3)},
			Relation: fmt.Sprintf("relation %d", i%3),
			Object:   store.NamedEntity{Name: fmt.Sprintf("the object of number %d", i*7%60)},
		})
	}
	roomy := newStore(t)
	storetest.Build(t, roomy, "world", facts)
	want := readWhole(t, roomy)
	s := newStore(t)
	s.memory = 2048
	content := storetest.Content(t, facts)
	sorted := false
	for at := 0; ; at += 1 + at/7 {
		broken := &failingDisk{at: at, fail: func(string) error { return syscall.ENOSPC }}
		s.disk = watching{broken, &sorted}
		_, err := s.Write(t.Context(), "world", content)
		if len(broken.calls) <= at {
			if err != nil {
				t.Fatalf("nothing failed, but: %v", err)
			}
			break
		}
		if !errors.Is(err, store.ErrFull) {
			t.Fatalf("operation %d, %s: error is %v", at, broken.calls[at], err)
		}
		if now := tree(t, s.dir); len(now) > 0 {
			t.Fatalf("operation %d, %s: left behind %v", at, broken.calls[at], now)
		}
	}
	s.disk = unsynced{}
	if _, err := s.Activate(t.Context(), "world", 1); err != nil {
		t.Fatal(err)
	}
	if got := readWhole(t, s); got != want || !sorted {
		t.Errorf("sorted on disk (%v) there is\n%s, want\n%s", sorted, got, want)
	}
}

// watching notices files that sorters make.
type watching struct {
	disk
	sorted *bool
}

func (w watching) Create(path string) (file, error) {
	*w.sorted = *w.sorted || filepath.Base(filepath.Dir(path)) == sortingDir
	return w.disk.Create(path)
}

// TestAFailingDiskDoesNotSwitch fails every operation of an activation.
func TestAFailingDiskDoesNotSwitch(t *testing.T) {
	s := newStore(t)
	before := storetest.Build(t, s, "world", storetest.World()[:3])
	info, err := s.Write(t.Context(), "world", storetest.Content(t, storetest.World()))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; at++ {
		if err := s.writeCurrent("world", current{Active: before}); err != nil {
			t.Fatal(err)
		}
		broken := &failingDisk{at: at, fail: func(string) error { return syscall.ENOSPC }}
		s.disk = broken
		_, err = s.Activate(t.Context(), "world", info.Number)
		s.disk = osDisk{}
		if len(broken.calls) <= at {
			if err != nil {
				t.Errorf("nothing failed, but: %v", err)
			}
			return
		}
		if !errors.Is(err, store.ErrFull) {
			t.Errorf("operation %d, %s: error is %v", at, broken.calls[at], err)
		}
		// Once CURRENT is renamed the switch is done; that it may not last a
		// power cut is all that the last sync could add.
		if got := storetest.Open(t, s, "world", 0).Info().Number; got != before && broken.calls[at] != "sync dir" {
			t.Errorf("operation %d, %s: %d is active, want %d", at, broken.calls[at], got, before)
		}
		if _, err := os.Stat(filepath.Join(s.dir, "world", currentName+".next")); !os.IsNotExist(err) {
			t.Errorf("operation %d, %s: the next CURRENT was left behind: %v", at, broken.calls[at], err)
		}
	}
}

func TestTheNextLoadRemovesOrphansOfACrash(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World())
	crashed := filepath.Join(s.dir, "world", buildPrefix+"crashed")
	building := filepath.Join(s.dir, "world", buildPrefix+"building")
	for _, dir := range []string{crashed, building} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	held, err := lockDir(building)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	storetest.Build(t, s, "world", storetest.World())
	if _, err := os.Stat(crashed); !os.IsNotExist(err) {
		t.Errorf("what a crash left is still there: %v", err)
	}
	if _, err := os.Stat(building); err != nil {
		t.Errorf("another process's build was swept away: %v", err)
	}
}
