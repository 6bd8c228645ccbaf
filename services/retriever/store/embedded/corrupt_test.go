package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// spoil changes a file and its modification time, as a write does.
func spoil(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

var damages = map[string]func([]byte) []byte{
	"the first bit flipped": func(b []byte) []byte { b[0] ^= 1; return b },
	"the last bit flipped":  func(b []byte) []byte { b[len(b)-1] ^= 0x80; return b },
	"the last byte cut off": func(b []byte) []byte { return b[:len(b)-1] },
	"cut to nothing":        func([]byte) []byte { return nil },
	"a byte added":          func(b []byte) []byte { return append(b, 0) },
}

// TestACorruptFileIsNeverServed damages every file of a snapshot in every way,
// before it was opened and while it is open.
func TestACorruptFileIsNeverServed(t *testing.T) {
	s := newStore(t)
	facts := storetest.World()
	storetest.Build(t, s, "world", facts, [2]string{"Paris", "City of Light"})
	want := readWhole(t, s)
	dir := s.snapshotDir("world", 1)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d files", len(files))
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, damage := range damages {
			if len(whole) == 0 && name != "a byte added" {
				continue
			}
			if strings.HasSuffix(f.Name(), ".sha256") && (name == "the last bit flipped" ||
				name == "the last byte cut off" || name == "a byte added") {
				continue // behind the sum stands only its name
			}
			storetest.Open(t, s, "world", 0)
			spoil(t, path, damage)
			for how, opener := range map[string]*Store{"fresh": New(s.dir), "again": s} {
				got, err := openWhole(t, opener)
				if err == nil && got != want || err != nil && !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("%s with %s, read %s: error is %v", f.Name(), name, how, err)
				}
				if err == nil && f.Name() != aliasesFile && f.Name() != offsetsFile(aliasesFile) &&
					f.Name() != aliasHolderFile {
					t.Errorf("%s with %s, read %s, was not noticed", f.Name(), name, how)
				}
			}
			if _, _, err := s.Verify(t.Context(), "world", 1); !errors.Is(err, store.ErrCorrupt) ||
				!strings.Contains(err.Error(), "world@1") {
				t.Errorf("%s with %s, verified: error is %v", f.Name(), name, err)
			}
			if listed, err := s.List(t.Context(), "world"); err != nil || len(listed) != 1 || listed[0].Number != 1 ||
				!listed[0].Active {
				t.Errorf("%s with %s, listed: got %v, %v", f.Name(), name, listed, err)
			}
			spoil(t, path, func([]byte) []byte { return whole })
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrCorrupt) ||
			!strings.Contains(err.Error(), "missing") {
			t.Errorf("%s removed: error is %v", f.Name(), err)
		}
		spoilMissing(t, path, whole)
	}
	if got := readWhole(t, s); got != want {
		t.Errorf("after all files were mended there is\n%s, want\n%s", got, want)
	}
}

// openWhole reads all of a snapshot; damage may come to light at any moment.
func openWhole(t *testing.T, s *Store) (string, error) {
	t.Helper()
	snapshot, err := s.open(t.Context(), "world", 0)
	if err != nil {
		return "", err
	}
	defer snapshot.Release()
	// Such a small graph is searched exactly unless the method is set.
	query := make([]float32, storetest.Dims)
	query[0] = 1
	for _, method := range []vector.Method{vector.ByBits, vector.ByCodes} {
		if _, err := snapshot.layers[0].vectors.Search(t.Context(), [][]float32{query}, 3,
			vector.Options{Method: method}); err != nil {
			return "", err
		}
	}
	// Edges know their subjects; a triple by its number looks its own up.
	if err := store.Guard(func() error {
		for id := range snapshot.info.Triples {
			snapshot.Triple(store.TripleID(id))
		}
		return nil
	}); err != nil {
		return "", err
	}
	return storetest.Dump(t.Context(), snapshot)
}

func readWhole(t *testing.T, s *Store) string {
	t.Helper()
	dump, err := openWhole(t, s)
	if err != nil {
		t.Fatal(err)
	}
	return dump
}

func spoilMissing(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAFileTruncatedWhileReadIsAnError truncates a file under an open
// snapshot: reading it then is a memory fault, not the end of the process.
func TestAFileTruncatedWhileReadIsAnError(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World())
	snapshot := storetest.Open(t, s, "world", 0)
	if _, err := storetest.Dump(t.Context(), snapshot); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.snapshotDir("world", 1), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	query := make([]float32, storetest.Dims)
	for doing, read := range map[string]func() error{
		"search": func() error {
			_, err := snapshot.SearchTriples(ctx, [][]float32{query}, 3, store.Filter{})
			return err
		},
		"score": func() error {
			_, err := snapshot.ScoreTriples(ctx, [][]float32{query}, []store.TripleID{0})
			return err
		},
		"walk": func() error {
			_, err := snapshot.Edges(ctx, []store.EntityID{0}, store.Out, []store.RelationID{0})
			return err
		},
		"find a name": func() error { _, _, err := snapshot.Entity(ctx, "Paris"); return err },
		"match":       func() error { _, err := snapshot.Match(ctx, "paris"); return err },
		"name":        func() error { return store.Guard(func() error { _ = snapshot.EntityName(0); return nil }) },
		"read":        func() error { return store.Guard(func() error { _ = snapshot.Triple(0); return nil }) },
		"fuzzy":       func() error { _, err := snapshot.Fuzzy(ctx, "paris", .3, 3); return err },
	} {
		if err := read(); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: error is %v", doing, err)
		}
	}
}

func TestASnapshotOfAnotherFormatIsRefused(t *testing.T) {
	for format, want := range map[int]string{
		formatRepeats + 1: "its format is 4, this program reads 2 and 3; use a newer triplemesh",
		formatVersion - 1: "its format is 1, this program reads 2 and 3; load the files again",
	} {
		s := newStore(t)
		storetest.Build(t, s, "world", storetest.World())
		dir := s.snapshotDir("world", 1)
		// What else a newer manifest holds need not make sense here.
		manifest := fmt.Sprintf(`{"format": %d, "files": [1, 2]}`, format)
		spoil(t, filepath.Join(dir, manifestName), func([]byte) []byte { return []byte(manifest) })
		spoil(t, filepath.Join(dir, sumName), func([]byte) []byte {
			return []byte(hexSum([]byte(manifest)) + "  " +
				manifestName)
		})
		if _, err := s.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrFormat) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("format %d: error is %v", format, err)
		}
	}
}

func TestActivateRepairsACorruptCurrent(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World())
	spoil(t, filepath.Join(s.dir, "world", currentName), func([]byte) []byte { return []byte("{") })
	if _, err := s.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("error is %v", err)
	}
	if _, err := s.Activate(t.Context(), "world", 1); err != nil {
		t.Error(err)
	}
	storetest.Open(t, s, "world", 0)
}

func TestAnotherProcessMayReplaceASnapshotOfTheSameNumber(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World()[:3])
	storetest.Open(t, s, "world", 1)
	other := New(s.dir)
	defer other.Close()
	if _, err := other.Drop(t.Context(), "world", 0); err != nil {
		t.Fatal(err)
	}
	if number := storetest.Build(t, other, "world", storetest.World()); number != 1 {
		t.Fatalf("the new snapshot has number %d", number)
	}
	if got := storetest.Open(t, s, "world", 1).Info().Triples; got != len(storetest.World()) {
		t.Errorf("%d triples, want those of the new snapshot", got)
	}
}
