package retriever

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

func asTenant(tb testing.TB, ctx context.Context, name string) context.Context {
	tb.Helper()
	id, err := tenant.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return tenant.With(ctx, id)
}

func TestATenantWithManyLoadsDoesNotHoldUpAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		var mutex sync.Mutex
		var order []string
		var all sync.WaitGroup
		load := func(name string) {
			all.Go(func() {
				release, err := turns.take(asTenant(t, t.Context(), name))
				if err != nil {
					t.Error(err)
					return
				}
				mutex.Lock()
				order = append(order, name)
				mutex.Unlock()
				// All the others come meanwhile, and wait.
				synctest.Wait()
				release()
			})
			synctest.Wait()
		}
		first, err := turns.take(asTenant(t, t.Context(), "acme"))
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
		if len(turns.queued) > 0 {
			t.Errorf("places are kept of %d tenants", len(turns.queued))
		}
	})
}

func TestATurnIsForATenantAndCanBeGivenUp(t *testing.T) {
	turns := newTurns()
	if _, err := turns.take(t.Context()); !errors.Is(err, tenant.ErrNone) {
		t.Errorf("for no tenant: %v", err)
	}
	release, err := turns.take(asTenant(t, t.Context(), "acme"))
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"acme", "globex"} {
		if _, err := turns.take(asTenant(t, gone, name)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, who is gone: %v", name, err)
		}
	}
	release()
	for range 2 {
		release, err := turns.take(asTenant(t, t.Context(), "globex"))
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	if len(turns.queued) > 0 {
		t.Errorf("places are kept of %d tenants", len(turns.queued))
	}
}
