package embedded

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// unzipped reads a file of testdata/versions, which an earlier version wrote:
// rivers@1 of two facts (Velmora's rivers), rivers@2 with its mayor added, and
// the export of rivers@2.
func unzipped(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "versions", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// unpackArchive is a store on a directory that an earlier version wrote.
func unpackArchive(t *testing.T, archive string) *Store {
	t.Helper()
	s := newStore(t)
	for r := tar.NewReader(unzipped(t, archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		path := filepath.Join(s.dir, h.Name)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSnapshotsOfEarlierVersions(t *testing.T) {
	t.Run("of format 2 are read, deltas too", func(t *testing.T) {
		s := unpackArchive(t, "format-2.tar.gz")
		for number, triples := range map[uint64]int{0: 3, 1: 2, 2: 3} {
			snap := storetest.Open(t, s, "rivers", number)
			if got := snap.Info(); got.Triples != triples || got.Encoder != "all-MiniLM-L6-v2@d158a123" {
				t.Errorf("rivers@%d is %+v, want %d triples", number, got, triples)
			}
		}
		for number := range uint64(2) {
			if _, _, err := s.Verify(t.Context(), "rivers", number+1); err != nil {
				t.Errorf("rivers@%d: %v", number+1, err)
			}
		}
		// What it wrote is continued with: switched, added to, taken back.
		if _, err := s.Activate(t.Context(), "rivers", 1); err != nil {
			t.Error(err)
		}
		if info, err := s.Rollback(t.Context(), "rivers"); err != nil || info.Number != 2 {
			t.Errorf("rolled back to %+v, %v", info, err)
		}
		if info, err := s.Compact(t.Context(), "rivers", 2); err != nil || info.Triples != 3 {
			t.Errorf("compacted to %+v, %v", info, err)
		}
	})
	t.Run("of format 1 are refused, and stay", func(t *testing.T) {
		s := unpackArchive(t, "format-1.tar.gz")
		if _, err := s.Open(t.Context(), "rivers", 0); !errors.Is(err, store.ErrFormat) ||
			!strings.Contains(err.Error(), "load the files again") {
			t.Errorf("error is %v", err)
		}
		storetest.Build(t, s, "rivers", storetest.World())
		if got := storetest.Open(t, s, "rivers", 0).Info().Number; got != 3 {
			t.Errorf("loaded again, it is rivers@%d", got)
		}
		if _, err := os.Stat(filepath.Join(s.snapshotDir("rivers", 2), "trigrams")); err != nil {
			t.Errorf("what the earlier version wrote is gone: %v", err)
		}
	})
	t.Run("an export is imported", func(t *testing.T) {
		s := newStore(t)
		if info, err := s.Import(t.Context(), "taken", unzipped(t, "export-2.tar.gz")); err != nil ||
			info.Triples != 3 {
			t.Errorf("took %+v, %v", info, err)
		}
	})
}

func TestCurrentOfANewerFormatIsRefusedUnchanged(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World())
	newer := current{Format: currentFormat + 1, Active: 1}
	newer.Sum = newer.sum()
	text, err := json.Marshal(newer)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, "world", currentName)
	spoil(t, path, func([]byte) []byte { return text })
	if _, err := s.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrFormat) || !strings.Contains(err.Error(),
		"use a newer triplemesh") {
		t.Errorf("error is %v", err)
	}
	if _, err := s.Activate(t.Context(), "world", 1); !errors.Is(err, store.ErrFormat) {
		t.Errorf("it was switched: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(text) {
		t.Errorf("it became %s, %v", got, err)
	}
}
