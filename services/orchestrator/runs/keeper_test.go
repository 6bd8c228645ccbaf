package runs_test

import (
	"errors"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

func TestAKeeperReadsBackAtOnceWhatWasPut(t *testing.T) {
	k := runs.NewKeeper(open(t, file(t), 0), nil)
	defer k.Close()
	for i := range 100 {
		if err := k.Put(run(i)); err != nil {
			t.Fatal(err)
		}
		if i%10 != 0 {
			continue
		}
		if got, err := k.Get(run(i).GetId()); err != nil || !proto.Equal(got, run(i)) {
			t.Errorf("run %d is read back as %v, %v", i, got, err)
		}
		if page, _, err := k.List(1, "", runs.Filter{}); err != nil || len(page) != 1 || page[0].GetId() != run(i).GetId() {
			t.Errorf("after run %d the newest is %v, %v", i, page, err)
		}
	}
	if _, err := k.Get("none"); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
}

func TestClosingAKeeperLosesNothing(t *testing.T) {
	path := file(t)
	db, err := runs.Open(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	k := runs.NewKeeper(db, nil)
	var kept sync.Map
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 50 {
				r := run(w*50 + i)
				if err := k.Put(r); err == nil {
					kept.Store(r.GetId(), true)
				} else if !errors.Is(err, runs.ErrClosed) {
					t.Errorf("put: %v", err)
				}
				if w == 0 && i == 25 {
					if err := errors.Join(k.Close(), k.Close()); err != nil {
						t.Errorf("close: %v", err)
					}
				}
			}
		})
	}
	writers.Wait()
	again := open(t, path, 0)
	kept.Range(func(id, _ any) bool {
		if _, err := again.Get(id.(string)); err != nil {
			t.Errorf("run %s was taken and is gone: %v", id, err)
		}
		return true
	})
	if _, _, err := k.List(1, "", runs.Filter{}); !errors.Is(err, runs.ErrClosed) {
		t.Errorf("listed after the end: %v", err)
	}
}

func TestAKeeperTellsOfRunsThatCouldNotBeKept(t *testing.T) {
	var lost []error
	k := runs.NewKeeper(open(t, file(t), 0), func(_ *orchestratorv1.Run, err error) { lost = append(lost, err) })
	if err := k.Put(&orchestratorv1.Run{}); err != nil { // without an id
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if len(lost) != 1 {
		t.Errorf("told of %v", lost)
	}
}
