package runs_test

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// An earlier version, without checksums, saved one run.
func TestDatabaseOfAnEarlierVersionTakesRunsButItsOwnAreRefused(t *testing.T) {
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
	const id = "01M80WPPHM0C1V4KBSKM15YDEA"
	if _, err := store.Get(id); !errors.Is(err, runs.ErrDamaged) ||
		!strings.Contains(err.Error(), "it does not end in a checksum") {
		t.Errorf("its run is read with error %v", err)
	}
	saveRuns(t, store, 1, 3)
	saveRuns(t, openTenant(t, db, parseTenant(t, "acme")), 3, 4)
	if ids, _ := listAll(t, store, 5, runs.Filter{}); !slices.Equal(ids, runIDs(2, 1)) {
		t.Errorf("with two more it lists %q", ids)
	}
}
