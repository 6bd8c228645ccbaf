package explore

import (
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// findShared returns the candidates that join two ends over what has both of them as objects, one by a relation that
// the phrase has the words of: who directed whom by the films that A directed and B acts in. Of several such pairs of
// relations it returns those of most things; Coverage is their number.
func (e *explorer) findShared(o open) ([]Candidate, error) {
	if len(o.start) > linked || len(o.end) > linked {
		return nil, nil // no names
	}
	toStart, err := e.edgesTo(o.start)
	if err != nil {
		return nil, err
	}
	toEnd, err := e.edgesTo(o.end)
	if err != nil {
		return nil, err
	}
	var found []Candidate
	most := float32(0)
	for _, last := range slices.Sorted(maps.Keys(toEnd)) {
		ofEnd := map[store.EntityID]store.TripleID{}
		for _, edge := range toEnd[last] {
			ofEnd[edge.Entity] = edge.Triple
		}
		for _, first := range slices.Sorted(maps.Keys(toStart)) {
			c := Candidate{Joins: true, Triples: e.snap.RelationTriples(first),
				Steps:    []walk.Step{{Relation: first, Inverse: true}, {Relation: last}},
				Phrase:   max(e.cosine(first, o.phrase), e.cosine(last, o.phrase)),
				Question: max(e.cosine(first, ""), e.cosine(last, "")),
				Words:    max(e.matchWords(first, o.phrase), e.matchWords(last, o.phrase))}
			if c.Words < 1 || first == last {
				continue
			}
			for _, edge := range toStart[first] {
				if triple, isShared := ofEnd[edge.Entity]; isShared {
					c.Coverage++
					c.Examples = append(c.Examples, edge.Triple, triple)
				}
			}
			if c.Coverage > 0 && c.Coverage >= most {
				most, c.Examples = c.Coverage, sample(c.Examples, examples)
				found = append(found, c)
			}
		}
	}
	return slices.DeleteFunc(found, func(c Candidate) bool { return c.Coverage < most }), nil
}

// edgesTo returns the edges to some entities by their relations, without those that very many have.
func (e *explorer) edgesTo(ids []store.EntityID) (map[store.RelationID][]store.Edge, error) {
	edges := map[store.RelationID][]store.Edge{}
	for _, id := range ids {
		relations, err := e.snap.Relations(e.ctx, id, store.In)
		if err != nil {
			return nil, err
		}
		for _, r := range relations {
			if r.Edges > domainSize {
				continue
			}
			lists, err := e.snap.Edges(e.ctx, []store.EntityID{id}, store.In, []store.RelationID{r.Relation})
			if err != nil {
				return nil, err
			}
			edges[r.Relation] = append(edges[r.Relation], lists[0]...)
		}
	}
	return edges, nil
}
