package graphtest

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Graphs are what can be read.
type Graphs interface {
	store.Opener
	List(ctx context.Context, kg string) ([]store.Listed, error)
}

// Tenants is a store.Tenants in which every tenant reads the same graphs and
// nobody can write.
func Tenants(graphs Graphs) store.Tenants { return same{readOnly{graphs: graphs}} }

type same struct{ store store.Store }

func (s same) Of(tenant.ID) (store.Store, error) { return s.store, nil }

// readOnly panics where it would write: a test that does so needs a store.
type readOnly struct {
	store.Store
	graphs Graphs
}

func (r readOnly) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	return r.graphs.Open(ctx, kg, number)
}

func (r readOnly) List(ctx context.Context, kg string) ([]store.Listed, error) {
	return r.graphs.List(ctx, kg)
}
