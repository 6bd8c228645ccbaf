package graphtest

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// EntityName implements store.Names.
func (g *Graph) EntityName(id store.EntityID) string { return g.entities[id] }

// Kind implements store.Names.
func (g *Graph) Kind(id store.EntityID) store.Kind { return store.KindOf(g.entities[id]) }

// RelationName implements store.Names.
func (g *Graph) RelationName(id store.RelationID) string { return g.relations[id] }

// Entities implements store.Names.
func (g *Graph) Entities() iter.Seq[store.EntityID] {
	return func(yield func(store.EntityID) bool) {
		for id := range g.entities {
			if !yield(store.EntityID(id)) {
				return
			}
		}
	}
}

// Entity implements store.Names.
func (g *Graph) Entity(_ context.Context, name string) (store.EntityID, bool, error) {
	i, ok := slices.BinarySearch(g.entities, name)
	return store.EntityID(i), ok, nil
}

// Relation implements store.Names.
func (g *Graph) Relation(_ context.Context, name string) (store.RelationID, bool, error) {
	i, ok := slices.BinarySearch(g.relations, name)
	return store.RelationID(i), ok, nil
}

// RelationTriples implements store.Names.
func (g *Graph) RelationTriples(id store.RelationID) int {
	n := 0
	for _, t := range g.triples {
		if t.Relation == id {
			n++
		}
	}
	return n
}

// Match implements store.Names.
func (g *Graph) Match(_ context.Context, key string) ([]store.EntityID, error) {
	var found []store.EntityID
	for i, name := range g.entities {
		if store.Fold(name) == key {
			found = append(found, store.EntityID(i))
		}
	}
	return append(found, g.aliases[key]...), nil
}

// Fuzzy implements store.Names.
func (g *Graph) Fuzzy(_ context.Context, key string, minSimilarity float32, limit int) ([]store.NameMatch, error) {
	var found []store.NameMatch
	for i, name := range g.entities {
		s := store.Dice(store.Trigrams(key), store.Trigrams(store.Fold(name)))
		if s >= minSimilarity {
			found = append(found, store.NameMatch{Entity: store.EntityID(i), Similarity: s})
		}
	}
	slices.SortStableFunc(found, func(a, b store.NameMatch) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return found[:min(limit, len(found))], nil
}
