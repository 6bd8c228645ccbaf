package weaviate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestOrphanedScratchIsRemoved(t *testing.T) {
	below := filepath.Join(t.TempDir(), "loads")
	used, remove, err := scratchDir(below)
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(below, "load-left")
	if err := errors.Join(os.Mkdir(left, 0o700), os.WriteFile(filepath.Join(left, lockFile), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, removeOther, err := scratchDir(below)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was left is there: %v", err)
	}
	if _, err := os.Stat(used); err != nil {
		t.Errorf("what is in use is gone: %v", err)
	}
	if err := errors.Join(remove(), removeOther()); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(below); err != nil || len(entries) > 0 {
		t.Errorf("%v are left, %v", entries, err)
	}
}

func TestScratchUnderConstructionIsNotOrphaned(t *testing.T) {
	below := filepath.Join(t.TempDir(), "loads")
	var loads sync.WaitGroup
	for range 16 {
		loads.Go(func() {
			for range 50 {
				dir, remove, err := scratchDir(below)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stat(filepath.Join(dir, lockFile)); err != nil {
					t.Errorf("what is in use is gone: %v", err)
				}
				if err := remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	loads.Wait()
}

func TestTheStructureOfADroppedSnapshotIsRemoved(t *testing.T) {
	_, s, snap := world(t, nil)
	dir := filepath.Join(s.cluster.config.Dir, structuresDir)
	count := func(want int) {
		t.Helper()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
			t.Errorf("%d structures are there, %v; want %d", len(entries), err, want)
		}
	}
	if _, err := s.Drop(t.Context(), "world", 0); err != nil {
		t.Fatal(err)
	}
	count(1)
	if found, err := snap.Match(t.Context(), "paris"); err != nil || len(found) != 2 {
		t.Errorf("what is still open matches %v, %v", found, err)
	}
	snap.Release()
	count(0)
}

func TestTheStructureOfASnapshotThatAnotherProcessDropsIsRemoved(t *testing.T) {
	f, s, snap := world(t, nil)
	cfg := f.config()
	other := open(t, cfg)
	theirs := storetest.Open(t, other, "world", 0)
	if _, err := s.Drop(t.Context(), "world", 0); err != nil {
		t.Fatal(err)
	}
	snap.Release()
	other.mutex.Lock()
	seen := other.records["world"]
	seen.readAt = time.Time{}
	other.records["world"] = seen
	other.mutex.Unlock()
	if _, err := other.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("open answers %v", err)
	}
	if found, err := theirs.Match(t.Context(), "paris"); err != nil || len(found) != 2 {
		t.Errorf("what is still open matches %v, %v", found, err)
	}
	theirs.Release()
	if entries, err := os.ReadDir(filepath.Join(cfg.Dir, structuresDir)); err != nil || len(entries) != 0 {
		t.Errorf("%d structures are left, %v", len(entries), err)
	}
}

// writeEqualSnapshots writes two snapshots of the same content, which no other store has opened.
func writeEqualSnapshots(t *testing.T) *fake {
	t.Helper()
	f := newFake(t)
	writer := open(t, f.config())
	content := storetest.Content(t, storetest.World())
	for range 2 {
		info, err := writer.Write(t.Context(), "world", content)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Activate(t.Context(), "world", info.Number); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestSnapshotsOfTheSameContentAreOpenedAtOnce(t *testing.T) {
	f := writeEqualSnapshots(t)
	for range 20 {
		s := open(t, f.config())
		var group sync.WaitGroup
		for number := uint64(1); number <= 2; number++ {
			group.Go(func() {
				snap, err := s.Open(t.Context(), "world", number)
				if err != nil {
					t.Errorf("open snapshot %d: %v", number, err)
					return
				}
				snap.Release()
			})
		}
		group.Wait()
	}
}

func TestAStructureStaysUntilTheLastSnapshotOfItsContentIsDropped(t *testing.T) {
	cfg := writeEqualSnapshots(t).config()
	s := open(t, cfg)
	first, second := storetest.Open(t, s, "world", 1), storetest.Open(t, s, "world", 2)
	for _, c := range []struct {
		number uint64
		open   store.Snapshot
		left   int
	}{{1, first, 1}, {0, second, 0}} {
		if _, err := s.Drop(t.Context(), "world", c.number); err != nil {
			t.Fatal(err)
		}
		c.open.Release()
		if entries, err := os.ReadDir(filepath.Join(cfg.Dir, structuresDir)); err != nil ||
			len(entries) != c.left {
			t.Errorf("after the drop of %d, %d structures are there, %v; want %d", c.number, len(entries), err, c.left)
		}
	}
}
