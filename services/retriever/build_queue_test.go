package retriever

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/triplemesh/triplemesh/internal/auth"
)

func asTenant(tb testing.TB, ctx context.Context, name string) context.Context {
	tb.Helper()
	id, err := auth.ParseTenant(name)
	if err != nil {
		tb.Fatal(err)
	}
	return auth.WithTenant(ctx, id)
}

func TestATenantWithManyLoadsDoesNotBlockOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newBuildQueue()
		var mutex sync.Mutex
		var order []string
		var all sync.WaitGroup
		load := func(name string) {
			all.Go(func() {
				release, err := turns.acquire(asTenant(t, t.Context(), name))
				if err != nil {
					t.Error(err)
					return
				}
				mutex.Lock()
				order = append(order, name)
				mutex.Unlock()
				// Meanwhile all others arrive and wait.
				synctest.Wait()
				release()
			})
			synctest.Wait()
		}
		first, err := turns.acquire(asTenant(t, t.Context(), "acme"))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			load("acme")
		}
		load("globex")
		first()
		all.Wait()
		if len(order) != 6 || order[0] != "globex" && order[1] != "globex" {
			t.Errorf("the order is %v, want globex after one of acme's at most", order)
		}
		if len(turns.slots) > 0 {
			t.Errorf("places are kept of %d tenants", len(turns.slots))
		}
	})
}

func TestBuildQueueSlotsBelongToTenantsAndEndOnCancellation(t *testing.T) {
	turns := newBuildQueue()
	if _, err := turns.acquire(t.Context()); !errors.Is(err, auth.ErrNoTenant) {
		t.Errorf("for no tenant: %v", err)
	}
	release, err := turns.acquire(asTenant(t, t.Context(), "acme"))
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"acme", "globex"} {
		if _, err := turns.acquire(asTenant(t, gone, name)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, who is gone: %v", name, err)
		}
	}
	release()
	for range 2 {
		release, err := turns.acquire(asTenant(t, t.Context(), "globex"))
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	if len(turns.slots) > 0 {
		t.Errorf("places are kept of %d tenants", len(turns.slots))
	}
}
