package embedded

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// snapshot is one user's view of a mapping.
type snapshot struct {
	layout
	mapping *mapping
	info    store.Info
	once    sync.Once
}

var _ store.Snapshot = (*snapshot)(nil)

// Info implements store.Snapshot.
func (s *snapshot) Info() store.Info { return s.info }

// Release implements store.Snapshot.
func (s *snapshot) Release() { s.once.Do(s.mapping.release) }

func (s *snapshot) wrap(op string, err error) error {
	return wrap(op, s.info.KG, s.info.Number, err)
}

// Triple implements store.Facts.
func (s *snapshot) Triple(id store.TripleID) store.Triple { return s.triples[id] }

// Validity implements store.Facts.
func (s *snapshot) Validity(id store.TripleID) store.Validity {
	i, ok := slices.BinarySearch(s.valid, uint32(id))
	if !ok {
		return store.Validity{}
	}
	return store.Validity{
		Start: strings.Clone(s.intervals.view(uint32(2 * i))),
		End:   strings.Clone(s.intervals.view(uint32(2*i + 1))),
	}
}

// Kind implements store.Names.
func (s *snapshot) Kind(id store.EntityID) store.Kind {
	return store.KindOf(s.entities.view(uint32(id)))
}

func (s *snapshot) edges(dir store.Direction) lists[store.Edge] {
	if dir == store.In {
		return s.in
	}
	return s.out
}

// Degree implements store.Walker.
func (s *snapshot) Degree(id store.EntityID, dir store.Direction) int {
	return len(s.edges(dir).row(uint32(id)))
}

// Edges implements store.Walker.
func (s *snapshot) Edges(ctx context.Context, entities []store.EntityID, dir store.Direction, relations []store.RelationID) ([][]store.Edge, error) {
	some := relations != nil
	relations = slices.Compact(slices.Sorted(slices.Values(relations)))
	all := s.edges(dir)
	result := make([][]store.Edge, len(entities))
	err := guard(func() error {
		for i, e := range entities {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := all.row(uint32(e))
			if some {
				row = only(row, relations)
			}
			result[i] = row
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("walk", err)
	}
	return result, nil
}

// only keeps the edges of some relations; edges and relations are ascending.
func only(edges []store.Edge, relations []store.RelationID) []store.Edge {
	var kept []store.Edge
	for i, r := range relations {
		from, _ := slices.BinarySearchFunc(edges, r, byRelation)
		to, _ := slices.BinarySearchFunc(edges[from:], r+1, byRelation)
		found := edges[from : from+to : from+to]
		if i == len(relations)-1 && kept == nil {
			return found
		}
		kept = append(kept, found...)
		edges = edges[from+to:]
	}
	return kept
}

func byRelation(e store.Edge, r store.RelationID) int {
	return int(int64(e.Relation) - int64(r))
}
