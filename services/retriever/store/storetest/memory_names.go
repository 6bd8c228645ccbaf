package storetest

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// EntityName implements store.Names.
func (g *Graph) EntityName(id store.EntityID) string { return g.entities[id] }

// EntityKey implements store.Names; names are the keys here.
func (g *Graph) EntityKey(id store.EntityID) string { return g.entities[id] }

// EntityByKey implements store.Names.
func (g *Graph) EntityByKey(context.Context, string) (store.EntityID, bool, error) {
	return 0, false, nil
}

// Kind implements store.Names.
func (g *Graph) Kind(id store.EntityID) store.Kind { return store.ClassifyName(g.entities[id]) }

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
	entities, err := g.index().Match(key)
	found := make([]store.EntityID, len(entities))
	for i, e := range entities {
		found[i] = store.EntityID(e)
	}
	return found, err
}

// Fuzzy implements store.Names.
func (g *Graph) Fuzzy(ctx context.Context, key string, minSimilarity float32,
	limit int) ([]store.NameMatch, error) {
	matches, err := g.index().Fuzzy(ctx, key, minSimilarity, limit)
	found := make([]store.NameMatch, len(matches))
	for i, m := range matches {
		found[i] = store.NameMatch{Entity: store.EntityID(m.Entity), Similarity: m.Similarity}
	}
	return found, err
}

// index is the name index that a store would have, built when it is first
// needed.
func (g *Graph) index() *nameindex.Index {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.names != nil {
		return g.names
	}
	holders := map[string][]uint32{}
	for id, name := range g.entities {
		key := store.Fold(name)
		holders[key] = append(holders[key], uint32(id))
	}
	for key, aliases := range g.aliases {
		for _, id := range aliases {
			holders[key] = append(holders[key], uint32(id))
		}
	}
	var names, ids bytes.Buffer
	w, err := nameindex.NewWriter(&names, &ids, extsort.Options{})
	for _, key := range slices.Sorted(maps.Keys(holders)) {
		if err == nil {
			slices.Sort(holders[key])
			err = w.Add(key, slices.Compact(holders[key]))
		}
	}
	if err == nil {
		err = w.Finish(context.Background())
	}
	if err == nil {
		g.names, err = nameindex.Open(names.Bytes(), ids.Bytes())
	}
	if err != nil {
		panic("storetest: " + err.Error())
	}
	return g.names
}
