package embedded

import (
	"iter"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Triple implements store.Facts.
func (s *snapshot) Triple(id store.TripleID) store.Triple {
	l := s.layerOf(int(id), firstTriple)
	return l.triple(int(id) - l.first.FirstTriple)
}

// triple reads a triple by its place in the layer.
func (l *layer) triple(place int) store.Triple {
	return store.Triple{
		Subject:  l.entity(l.graph.subject(place)),
		Relation: store.RelationID(l.graph.relations.Get(place)),
		Object:   l.entity(int(l.graph.objects.Get(place))),
	}
}

// Validity implements store.Facts.
func (s *snapshot) Validity(id store.TripleID) store.Validity {
	l := s.layerOf(int(id), firstTriple)
	if l.own.Dated == 0 {
		return store.Validity{}
	}
	i, ok := l.dated.Find(uint64(int(id) - l.first.FirstTriple))
	if !ok {
		return store.Validity{}
	}
	return store.Validity{Start: l.intervals.get(2 * i), End: l.intervals.get(2*i + 1)}
}

// Entities implements store.Names: it merges the layers, each of which is in
// the order of names.
func (s *snapshot) Entities() iter.Seq[store.EntityID] {
	return func(yield func(store.EntityID) bool) {
		next := make([]int, len(s.layers))
		for {
			least := -1
			var name string
			for i, l := range s.layers {
				if next[i] == l.own.Entities {
					continue
				}
				if s.plain() {
					least = i
				} else if n := l.entities.view(next[i]); least < 0 || n < name {
					least, name = i, n
				}
			}
			if least < 0 {
				return
			}
			id := store.EntityID(s.layers[least].first.FirstEntity + next[least])
			next[least]++
			if s.visible(id) && !yield(id) {
				return
			}
		}
	}
}

// visible says whether any triple names an entity; in a snapshot with deltas
// all may have been removed.
func (s *snapshot) visible(id store.EntityID) bool {
	return s.plain() || s.Degree(id, store.Out) > 0 || s.Degree(id, store.In) > 0
}
