package runs_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// An earlier version, without checksums, saved one run.
func TestDatabaseOfAnEarlierVersionStaysUsable(t *testing.T) {
	from, err := os.Open(filepath.Join("testdata", "versions", "format-1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	z, err := gzip.NewReader(from)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	db := open(t, path, 0)
	store := openTenant(t, db, auth.DefaultTenant())
	page, _, err := store.List(context.Background(), 10, "", runs.Filter{})
	if err != nil || len(page) != 1 {
		t.Fatalf("listed %d runs, %v", len(page), err)
	}
	for _, listed := range page {
		run, err := store.Get(listed.GetId())
		if err != nil || run.GetQuestion() == "" || len(run.GetAnswers()) == 0 || run.GetPgAkv() == nil {
			t.Errorf("%s is %v, %v", listed.GetId(), run, err)
		}
	}
	saveRuns(t, store, 1, 3)
	if page, _, err := store.List(context.Background(), 10, "", runs.Filter{}); err != nil || len(page) != 3 {
		t.Errorf("with two more it lists %d runs, %v", len(page), err)
	}
}
