package runs_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// TestFlippedBitsAreDetected flips one bit of a small database at a time: every read returns the saved run or an error,
// and none takes all memory. FLIPS=all flips a bit of every byte, and all at the beginnings of pages; without it, of
// some.
func TestFlippedBitsAreDetected(t *testing.T) {
	path := file(t)
	db := open(t, path, 0)
	acme := parseTenant(t, "acme")
	for _, of := range []auth.Tenant{auth.DefaultTenant(), acme} {
		saveRuns(t, openTenant(t, db, of), 0, 5)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]*orchestratorv1.Run{}
	for i := range 5 {
		want[runID(i)] = makeRun(i)
	}
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var places []int // bits
	for _, at := range random.Perm(len(intact)) {
		places = append(places, 8*at+random.IntN(8))
	}
	isAll := os.Getenv("FLIPS") == "all"
	if !isAll {
		places = places[:300]
	}
	for at := range len(intact) / 2 { // and the beginnings of pages, by which others are found
		switch {
		case at%os.Getpagesize() >= 128:
		case isAll:
			for bit := range 8 {
				places = append(places, 8*at+bit)
			}
		default:
			places = append(places, 8*at+random.IntN(8))
		}
	}
	found := 0
	flipped := filepath.Join(t.TempDir(), "runs.db")
	for _, place := range places {
		data, at, bit := slices.Clone(intact), place/8, place%8
		data[at] ^= 1 << bit
		// What fails in a write stays open and locked: the next file is another one.
		if err := os.Remove(flipped); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		write(t, flipped, data)
		if readFlipped(t, flipped, want, at, bit, acme) {
			found++
		}
	}
	if found == 0 {
		t.Error("no flipped bit was found")
	}
	testkit.Measured(t, "%d flips in runs: 0 change what is read", len(places))
}

// readFlipped reads all runs by id and by list, and reports whether any read failed.
func readFlipped(t *testing.T, path string, want map[string]*orchestratorv1.Run, at, bit int,
	tenants ...auth.Tenant) (found bool) {
	t.Helper()
	db, err := runs.Open(path, 0)
	if err != nil {
		if strings.Contains(err.Error(), "another process has it open") {
			t.Errorf("bit %d of byte %d flipped: %v", bit, at, err)
		}
		return true
	}
	defer func() { _ = db.Close() }()
	for _, of := range append(tenants, auth.DefaultTenant()) {
		store := openTenant(t, db, of)
		for id, run := range want {
			if got, err := store.Get(id); err != nil {
				found = true
			} else if !proto.Equal(got, run) {
				t.Errorf("bit %d of byte %d flipped: run %s reads %v, want %v", bit, at, id, got, run)
			}
		}
		listed, _, err := store.List(t.Context(), 100, "", runs.Filter{})
		found = found || err != nil || len(listed) != len(want)
		for _, run := range listed {
			if whole := want[run.GetId()]; whole == nil || run.GetQuestion() != whole.GetQuestion() {
				t.Errorf("bit %d of byte %d flipped: listed is %v", bit, at, run)
			}
		}
	}
	return found
}
