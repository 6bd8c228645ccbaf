package runs_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

func open(t *testing.T, path string, keep int) *runs.DB {
	t.Helper()
	db, err := runs.Open(path, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "new folder", "runs.db") }

func TestDB(t *testing.T) {
	testConformance(t, func(t *testing.T) location {
		path := file(t)
		return func(keep int) (runs.Tenants, error) { return runs.Open(path, keep) }
	})
}

// version returns the format of a database.
func TestFilesThatCannotBeOpened(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		says    string
	}{
		{"one that another process has open", func(t *testing.T, path string) { open(t, path, 0) },
			"another process has it open"},
		{"one of a later version", func(t *testing.T, path string) {
			if err := open(t, path, 0).Close(); err != nil {
				t.Fatal(err)
			}
			b, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = b.Update(func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("meta")).Put([]byte("version"), []byte("7"))
			})
			if err := errors.Join(err, b.Close()); err != nil {
				t.Fatal(err)
			}
		}, `format "7"`},
		{"one that is no database", func(t *testing.T, path string) {
			write(t, path, []byte(strings.Repeat("no database ", 4000)))
		}, "invalid database"},
		{"one that was cut in its first page", func(t *testing.T, path string) { write(t, path, []byte("x")) }, ""},
		{"a folder", func(t *testing.T, path string) {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := file(t)
			c.prepare(t, path)
			db, err := runs.Open(path, 0)
			if err == nil {
				db.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want it to name the file and %q", err, c.says)
			}
		})
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Calls on a damaged file return runs or errors; they never hang or panic.
func TestDamagedFileReturnsErrors(t *testing.T) {
	path := file(t)
	db := open(t, path, 0)
	saveRuns(t, openTenant(t, db, auth.DefaultTenant()), 0, 60)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 8))
	failed := 0
	for i := range 60 {
		data := slices.Clone(whole)
		switch i % 3 {
		case 0: // cut short
			data = data[:random.IntN(len(data))]
		case 1: // a page overwritten
			at := random.IntN(len(data)/4096) * 4096
			for j := range 4096 {
				data[at+j] = byte(random.Uint32())
			}
		case 2: // bits flipped
			for range 20 {
				data[random.IntN(len(data))] ^= 1 << random.IntN(8)
			}
		}
		damaged := filepath.Join(t.TempDir(), "runs.db")
		write(t, damaged, data)
		if !use(damaged) {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

// use reports whether all operations work on a file.
func use(path string) bool {
	db, err := runs.Open(path, 100)
	if err != nil {
		return false
	}
	defer db.Close()
	store, err := db.Tenant(auth.DefaultTenant())
	for token := ""; err == nil; {
		if _, token, err = store.List(context.Background(), 10, token, runs.Filter{}); token == "" {
			break
		}
	}
	for i := range 60 {
		if _, e := store.Get(runID(i)); e != nil {
			err = e
		}
	}
	return errors.Join(err, store.Save(makeRun(61))) == nil
}
