package embedded

import (
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// entityNumber finds an entity by name. One that no triple names any more is
// gone: where its name comes again in a delta it gets another number, and the
// last number is what counts.
func (s *snapshot) entityNumber(name string) (store.EntityID, bool) {
	for _, l := range slices.Backward(s.layers) {
		if i, ok := l.entities.find(name); ok {
			id := store.EntityID(l.first.FirstEntity + i)
			return id, s.visible(id)
		}
	}
	return 0, false
}

// relationNumber finds a relation by name, also one that has no triple any
// more.
func (s *snapshot) relationNumber(name string) (int, bool) {
	for _, l := range s.layers {
		if i, ok := l.relations.find(name); ok {
			return l.first.FirstRelation + i, true
		}
	}
	return 0, false
}

// lookup appends the triples of a subject, relation and object that were not
// removed; they differ in their validity.
func (s *snapshot) lookup(found []store.TripleID, t store.Triple) []store.TripleID {
	for _, l := range s.layers {
		subject, ok := l.row(int(t.Subject))
		if !ok {
			continue
		}
		object, ok := l.row(int(t.Object))
		if !ok {
			continue
		}
		at := l.graph.only(l.graph.row(subject, store.Out), store.Out, uint64(t.Relation))
		place := l.graph.objects.Search(at.from, at.to, uint64(object))
		for ; place < at.to && l.graph.objects.Get(place) == uint64(object); place++ {
			if id := l.first.FirstTriple + place; !s.removed(id) {
				found = append(found, store.TripleID(id))
			}
		}
	}
	return found
}

// next are the numbers that a delta of this snapshot begins with.
func (s *snapshot) next() base {
	top := s.layers[len(s.layers)-1]
	return base{
		Number:        s.info.Number,
		SHA256:        top.mapping.sum,
		FirstEntity:   top.first.FirstEntity + top.own.Entities,
		FirstRelation: top.first.FirstRelation + top.own.Relations,
		FirstTriple:   top.first.FirstTriple + top.own.Triples,
		Depth:         len(s.layers),
	}
}
