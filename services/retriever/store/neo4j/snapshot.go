package neo4j

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// snapshot is one user's view of a graph: names and vectors as they were when it
// was indexed, edges as they are.
type snapshot struct {
	// Names, triples by number and vectors come from local.
	local store.Snapshot
	*index
	graph *graph
	// ctx is that of who opened it, for methods that take none.
	ctx  context.Context
	info store.Info
	live live
	// vectors are where triples' vectors are; local where they are in files.
	vectors searcher
}

// searcher is what differs by where vectors are.
type searcher interface {
	SearchTriples(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error)
	ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error)
}

var _ store.Snapshot = (*snapshot)(nil)

// Info implements store.Snapshot: what was indexed.
func (s *snapshot) Info() store.Info { return s.info }

// Release implements store.Snapshot.
func (s *snapshot) Release() { s.local.Release() }

func (s *snapshot) wrap(op string, err error) error {
	return wrap(op, s.info.KG, s.info.Number, err)
}

// wrap says what was being done to which snapshot; it keeps an error that
// already does.
func wrap(op, kg string, number uint64, err error) error {
	var known *store.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &store.Error{Op: op, KG: kg, Number: number, Err: err}
}

// fail ends a method that returns no error.
func (s *snapshot) fail(op string, err error) {
	panic(&store.Fault{Err: s.wrap(op, err)})
}

// gone counts facts that Neo4j no longer holds.
func (s *snapshot) gone(ctx context.Context, facts int) {
	if facts > 0 {
		s.graph.stale.Add(ctx, int64(facts), metric.WithAttributes(kgAttribute(s.info.KG)))
	}
}

// known says whether an entity was indexed.
func (s *snapshot) known(e store.EntityID) bool { return int(e) < s.info.Entities }

// indexedTriple says whether a triple was indexed.
func (s *snapshot) indexedTriple(t store.TripleID) bool { return int(t) < s.info.Triples }
