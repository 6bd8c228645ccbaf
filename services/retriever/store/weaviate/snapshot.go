package weaviate

import (
	"context"
	"fmt"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// snapshot is one user's view of an open snapshot.
type snapshot struct {
	graph *graph
	once  sync.Once
}

var _ store.Snapshot = (*snapshot)(nil)

// Info implements store.Snapshot.
func (s *snapshot) Info() store.Info { return s.graph.entry.Info }

// Release implements store.Snapshot.
func (s *snapshot) Release() {
	s.once.Do(func() {
		// What cannot be unmapped is of no use to anybody.
		_ = s.graph.release()
	})
}

func (s *snapshot) wrap(op string, err error) error {
	return wrap(op, s.graph.entry.KG, s.graph.entry.Number, err)
}

// relation returns one; a number that is not of this snapshot is a Fault.
func (s *snapshot) relation(id store.RelationID) relation {
	if int(id) >= len(s.graph.relations) {
		s.must(fmt.Errorf("there is no relation %d: %w", id, store.ErrInvalid))
	}
	return s.graph.relations[id]
}

// RelationName implements store.Names.
func (s *snapshot) RelationName(id store.RelationID) string { return s.relation(id).name }

// RelationTriples implements store.Names.
func (s *snapshot) RelationTriples(id store.RelationID) int { return s.relation(id).triples }

// RelationVector implements store.Searcher.
func (s *snapshot) RelationVector(id store.RelationID) []float32 { return s.relation(id).vector }

// Relation implements store.Names.
func (s *snapshot) Relation(_ context.Context, name string) (store.RelationID, bool, error) {
	id, ok := s.graph.byName[name]
	return id, ok, nil
}
