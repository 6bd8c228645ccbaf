package storetest

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// GraphReader opens and lists snapshots.
type GraphReader interface {
	store.Opener
	List(ctx context.Context, kg string) ([]store.ListedSnapshot, error)
}

// TenantsOver is a store.Tenants in which every tenant reads the same graphs and
// none can write.
func TenantsOver(graphs GraphReader) store.Tenants { return sameForAll{readOnlyStore{graphs: graphs}} }

type sameForAll struct{ store store.Store }

func (s sameForAll) ForTenant(auth.Tenant) (store.Store, error) { return s.store, nil }

// readOnlyStore panics on writes: a test that writes needs a real store.
type readOnlyStore struct {
	store.Store
	graphs GraphReader
}

func (r readOnlyStore) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	return r.graphs.Open(ctx, kg, number)
}

func (r readOnlyStore) List(ctx context.Context, kg string) ([]store.ListedSnapshot, error) {
	return r.graphs.List(ctx, kg)
}
