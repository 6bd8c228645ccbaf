package runs_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

func TestKeeperReadsItsWrites(t *testing.T) {
	keeper := runs.NewKeeper(open(t, file(t), 0), nil)
	defer keeper.Close()
	k := openTenant(t, keeper, auth.DefaultTenant())
	for i := range 100 {
		if err := k.Save(makeRun(i)); err != nil {
			t.Fatal(err)
		}
		if i%10 != 0 {
			continue
		}
		if got, err := k.Get(makeRun(i).GetId()); err != nil || !proto.Equal(got, makeRun(i)) {
			t.Errorf("run %d is read back as %v, %v", i, got, err)
		}
		if page, _, err := k.List(t.Context(), 1, "", runs.Filter{}); err != nil || len(page) != 1 ||
			page[0].GetId() != makeRun(i).GetId() {
			t.Errorf("after run %d the newest is %v, %v", i, page, err)
		}
	}
	if _, err := k.Get("none"); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
}

func TestClosingAKeeperWritesItsQueue(t *testing.T) {
	path := file(t)
	db, err := runs.Open(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	keeper := runs.NewKeeper(db, nil)
	k := openTenant(t, keeper, parseTenant(t, "acme"))
	var kept sync.Map
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 50 {
				r := makeRun(w*50 + i)
				if err := k.Save(r); err == nil {
					kept.Store(r.GetId(), true)
				} else if !errors.Is(err, runs.ErrClosed) {
					t.Errorf("put: %v", err)
				}
				if w == 0 && i == 25 {
					if err := errors.Join(keeper.Close(), keeper.Close()); err != nil {
						t.Errorf("close: %v", err)
					}
				}
			}
		})
	}
	writers.Wait()
	again := openTenant(t, open(t, path, 0), parseTenant(t, "acme"))
	kept.Range(func(id, _ any) bool {
		if _, err := again.Get(id.(string)); err != nil {
			t.Errorf("run %s was taken and is gone: %v", id, err)
		}
		return true
	})
	if _, _, err := k.List(t.Context(), 1, "", runs.Filter{}); !errors.Is(err, runs.ErrClosed) {
		t.Errorf("listed after the end: %v", err)
	}
}

func TestKeeperReportsFailedWrites(t *testing.T) {
	var lost []error
	k := runs.NewKeeper(open(t, file(t), 0), func(_ *orchestratorv1.Run, err error) { lost = append(lost, err) })
	store := openTenant(t, k, auth.DefaultTenant())
	if err := store.Save(makeRun(0), &orchestratorv1.Run{}, makeRun(1)); err != nil { // one without an id
		t.Fatal(err)
	}
	if ids, _ := listAll(t, store, 9, runs.Filter{}); !slices.Equal(ids, runIDs(1, 0)) {
		t.Errorf("of those beside it %q are kept", ids)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if len(lost) != 1 {
		t.Errorf("told of %v", lost)
	}
}

func TestKeeperSeparatesTenants(t *testing.T) {
	k := runs.NewKeeper(open(t, file(t), 0), nil)
	defer k.Close()
	acme, globex := openTenant(t, k, parseTenant(t, "acme")),
		openTenant(t, k, parseTenant(t, "globex"))
	saveRuns(t, acme, 0, 3)
	saveRuns(t, globex, 3, 5)
	for i := range 5 {
		_, err := acme.Get(runID(i))
		if (err == nil) != (i < 3) || err != nil && !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("acme reads run %d: %v", i, err)
		}
	}
	if ids, _ := listAll(t, globex, 9, runs.Filter{}); len(ids) != 2 {
		t.Errorf("globex has %q", ids)
	}
	if store, err := k.Tenant(auth.Tenant{}); !errors.Is(err, auth.ErrNoTenant) || store != nil {
		t.Errorf("nobody has %v, %v", store, err)
	}
}
