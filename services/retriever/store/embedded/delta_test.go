package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// changes is a delta of the world that adds, removes, and names something new.
func changes() store.Delta {
	world := storetest.World()
	rome := store.Fact{Subject: store.NamedEntity{Name: "Rome"}, Relation: "located in",
		Object:   store.NamedEntity{Name: "Italy"},
		Validity: store.Validity{Start: "-0753"}}
	founded := store.Fact{Subject: store.NamedEntity{Name: "Rome"}, Relation: "founded by",
		Object: store.NamedEntity{Name: "Paris"}}
	return storetest.Delta(world[:2], []store.Fact{rome, founded}, store.NamedAlias{Entity: "Rome",
		Name: "Eternal City"})
}

// buildWorldAndDelta loads the world and a delta of it, which becomes active.
func buildWorldAndDelta(t *testing.T, s *Store) (number uint64) {
	t.Helper()
	storetest.Build(t, s, "world", storetest.World(), [2]string{"Paris", "Lutetia"})
	changed, err := s.WriteDelta(t.Context(), "world", changes())
	if err != nil {
		t.Fatal(err)
	}
	if changed.Added != 2 || changed.Removed != 2 {
		t.Errorf("changed: %+v", changed)
	}
	if _, err := s.Activate(t.Context(), "world", changed.Number); err != nil {
		t.Fatal(err)
	}
	return changed.Number
}

// TestACorruptDeltaIsNeverServed damages every file of a delta and of its base.
func TestACorruptDeltaIsNeverServed(t *testing.T) {
	s := newStore(t)
	number := buildWorldAndDelta(t, s)
	want := readWhole(t, s)
	files, err := filepath.Glob(filepath.Join(s.dir, "world", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d files", len(files))
	}
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"the first bit flipped", "cut to nothing"} {
			if len(whole) == 0 {
				continue
			}
			spoil(t, path, damages[name])
			if got, err := openWhole(t, s); err == nil && got != want || err != nil &&
				!errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s with %s: %v shows\n%s", path, name, err, got)
			}
			if _, _, err := s.Verify(t.Context(), "world", number); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s with %s, verified: error is %v", path, name, err)
			}
			spoil(t, path, func([]byte) []byte { return whole })
		}
	}
	if got := readWhole(t, s); got != want {
		t.Errorf("after all files were mended there is\n%s, want\n%s", got, want)
	}
}

func TestADeltaVerifiesItsBase(t *testing.T) {
	s := newStore(t)
	buildWorldAndDelta(t, s)
	base := s.snapshotDir("world", 1)
	if err := os.Rename(base, base+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(),
		"its base 1") {
		t.Errorf("the base is gone: %v", err)
	}
	other := newStore(t)
	storetest.Build(t, other, "world", storetest.World()[1:])
	if err := os.CopyFS(base, os.DirFS(other.snapshotDir("world", 1))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(),
		"checksum mismatch") {
		t.Errorf("the base is another: %v", err)
	}
}

func TestADeltaOnADroppedBaseFails(t *testing.T) {
	s := newStore(t)
	info, err := s.Write(t.Context(), "world", storetest.Content(t, storetest.World()))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Build(t, s, "world", storetest.World()[:4])
	d := changes()
	d.Base = info.Number
	vectors := d.TripleVectors
	d.TripleVectors = func(ctx context.Context, facts []store.Fact, emit func([]float32) error) error {
		if _, err := s.Drop(ctx, "world", info.Number); err != nil {
			t.Error(err)
		}
		return vectors(ctx, facts, emit)
	}
	if _, err := s.WriteDelta(t.Context(), "world", d); !errors.Is(err, store.ErrNotFound) ||
		!strings.Contains(err.Error(), "meanwhile") {
		t.Errorf("the base was dropped while its delta was built: %v", err)
	}
}

// TestAFailingDiskChangesNothing fails every operation of a delta and of a
// compaction in turn.
func TestAFailingDiskChangesNothing(t *testing.T) {
	s := newStore(t)
	number := buildWorldAndDelta(t, s)
	left, want := tree(t, s.dir), readWhole(t, s)
	for name, do := range map[string]func() error{
		"delta": func() error {
			_, err := s.WriteDelta(t.Context(), "world", storetest.Delta(storetest.World()[3:5], nil))
			return err
		},
		"compaction": func() error { _, err := s.Compact(t.Context(), "world", number); return err },
		"export":     func() error { return s.Export(t.Context(), "world", number, discard{}) },
	} {
		for at := 0; ; at++ {
			broken := &failingDisk{at: at, fail: func(string) error { return syscall.ENOSPC }}
			s.disk = broken
			err := do()
			s.disk = unsynced{}
			if len(broken.calls) <= at {
				if err != nil {
					t.Fatalf("%s: nothing failed, but: %v", name, err)
				}
				break
			}
			if !errors.Is(err, store.ErrFull) {
				t.Fatalf("%s, operation %d, %s: error is %v", name, at, broken.calls[at], err)
			}
			if now := tree(t, s.dir); !slices.Equal(now, left) {
				t.Fatalf("%s, operation %d, %s: left behind\n%v\nwant\n%v", name, at, broken.calls[at], now, left)
			}
		}
		if got := readWhole(t, s); got != want {
			t.Errorf("after the %s the active snapshot shows\n%s, want\n%s", name, got, want)
		}
		left = tree(t, s.dir)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// TestAReaddedEntityGetsANewID takes away all that names an
// entity and adds it again: what shows is what a compaction in between would
// have made of it.
func TestAReaddedEntityGetsANewID(t *testing.T) {
	founded := func(kind store.Kind) []store.Fact {
		return []store.Fact{{Subject: store.NamedEntity{Name: "Rome"}, Relation: "founded in",
			Object: store.NamedEntity{Name: "753", Kind: kind}}}
	}
	var shown []string
	for _, compact := range []bool{false, true} {
		s := newStore(t)
		storetest.Build(t, s, "world", append(storetest.World(), founded(store.Number)...), [2]string{"753", "DCCLIII"})
		for i, d := range []store.Delta{storetest.Delta(founded(store.Number), nil),
			storetest.Delta(nil, founded(store.Entity)), storetest.Delta(founded(store.Entity), nil),
			storetest.Delta(nil, founded(store.Date))} {
			changed, err := s.WriteDelta(t.Context(), "world", d)
			if err != nil {
				t.Fatal(err)
			}
			if want := len(storetest.World()) + i%2; changed.Triples != want {
				t.Errorf("delta %d leaves %d triples, want %d", i, changed.Triples, want)
			}
			if compact {
				changed.Info, err = s.Compact(t.Context(), "world", changed.Number)
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Activate(t.Context(), "world", changed.Number); err != nil {
				t.Fatal(err)
			}
		}
		opened := storetest.Open(t, s, "world", 0)
		id, ok, err := opened.Entity(t.Context(), "753")
		if err != nil || !ok || opened.Kind(id) != store.Date {
			t.Errorf("compacted %v: entity %d, %v, %v", compact, id, ok, err)
		}
		if found, err := opened.Match(t.Context(), "dccliii"); err != nil || len(found) > 0 {
			t.Errorf("compacted %v: an alias of what was gone leads to %v, %v", compact, found, err)
		}
		if _, _, err := s.Verify(t.Context(), "world", 0); err != nil {
			t.Error(err)
		}
		shown = append(shown, readWhole(t, s))
		want := map[bool]int{false: formatRepeats, true: formatVersion}[compact]
		if m, _, err := readManifest(s.snapshotDir("world", opened.Info().Number)); err != nil || m.Format != want {
			t.Errorf("compacted %v: format %d, %v, want %d", compact, m.Format, err, want)
		}
	}
	if shown[0] != shown[1] {
		t.Errorf("with deltas on one another it shows\n%s, compacted\n%s", shown[0], shown[1])
	}
}
