package explore

import (
	"maps"
	"regexp"
	"slices"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// asksTogether is a question for what two do together: "did A and B act together".
var asksTogether = regexp.MustCompile(`(?i)\b(?:together|with each other)\b|\bco-\p{L}`)

// findShared returns the candidates that join two ends over what has both of them as objects, one by a relation that
// the phrase has the words of: who directed whom by the films that A directed and B acts in. Of several such pairs of
// relations it returns those of most things; Coverage is their number.
func (e *explorer) findShared(o open) ([]Candidate, error) {
	if len(o.start) > linked || len(o.end) > linked {
		return nil, nil // no names
	}
	start, end := e.spelled(o.pattern.GetStart(), o.start), e.spelled(o.pattern.GetEnd(), o.end)
	toStart, err := e.edgesTo(start)
	if err != nil {
		return nil, err
	}
	toEnd, err := e.edgesTo(end)
	if err != nil {
		return nil, err
	}
	var found []Candidate
	most, isTogether := float32(0), asksTogether.MatchString(e.question)
	for _, last := range slices.Sorted(maps.Keys(toEnd)) {
		ofEnd := map[store.EntityID]store.TripleID{}
		for _, edge := range toEnd[last] {
			ofEnd[edge.Entity] = edge.Triple
		}
		for _, first := range slices.Sorted(maps.Keys(toStart)) {
			c := Candidate{Joins: true, Triples: e.snap.RelationTriples(first), Anchors: slices.Concat(start, end),
				Steps:    []walk.Step{{Relation: first, Inverse: true}, {Relation: last}},
				Phrase:   max(e.cosine(first, o.phrase), e.cosine(last, o.phrase)),
				Question: max(e.cosine(first, ""), e.cosine(last, "")),
				Words:    max(e.matchWords(first, o.phrase), e.matchWords(last, o.phrase))}
			if isSame := first == last; c.Words < 1 || isSame != isTogether {
				continue // both direct what they direct together; who directs somebody has another part
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

// spelled returns those of some entities whose names are spelled as the plan spells them, or all if none is: the actor
// and not the tag in lower case.
func (e *explorer) spelled(t *graphv1.QueryTerm, ids []store.EntityID) []store.EntityID {
	names := []string{t.GetEntity()}
	for _, c := range e.plan.GetClauses() {
		if v := c.GetValues(); v != nil && v.GetVariable() == t.GetVariable() {
			names = v.GetEntities()
		}
	}
	var found []store.EntityID
	for _, id := range ids {
		if slices.Contains(names, e.snap.EntityName(id)) {
			found = append(found, id)
		}
	}
	if len(found) == 0 {
		return ids
	}
	return found
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
