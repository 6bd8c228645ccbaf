package explore

import (
	"cmp"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// around returns the relations that some entities really have, from them to what lies beyond; to
// limits that. With reversed the entities are the end of the pattern. Only limits the relations; nil
// means all.
func (e *explorer) around(from, to []store.EntityID, phrase string, reversed bool,
	only []store.RelationID) ([]Candidate, error) {
	anchors := sample(from, sampled)
	counts := map[walk.Step]int{}
	for _, id := range anchors {
		for _, dir := range []store.Direction{store.Out, store.In} {
			relations, err := e.snap.Relations(e.ctx, id, dir)
			if err != nil {
				return nil, err
			}
			for _, r := range relations {
				if only == nil || slices.Contains(only, r.Relation) {
					counts[walk.Step{Relation: r.Relation, Inverse: dir == store.In}]++
				}
			}
		}
	}
	steps := slices.SortedFunc(maps.Keys(counts), func(a, b walk.Step) int {
		return cmp.Or(cmp.Compare(e.rough(b, phrase), e.rough(a, phrase)), walk.CompareSteps(a, b))
	})
	var target map[store.EntityID]bool
	if to != nil {
		target = make(map[store.EntityID]bool, len(to))
		for _, id := range to {
			target[id] = true
		}
	}
	var found []Candidate
	for i, s := range steps {
		c := Candidate{Steps: []walk.Step{s}, Phrase: e.cosine(s.Relation, phrase), Question: e.cosine(s.Relation, ""),
			Words:    e.matchWords(s.Relation, phrase),
			Coverage: float32(counts[s]) / float32(len(anchors)), Triples: e.snap.RelationTriples(s.Relation)}
		if i < probed || target != nil {
			more, err := e.probe(&c, anchors, target, phrase)
			if err != nil {
				return nil, err
			}
			c.TypeMatch = c.TypeMatch && !reversed // the words say what the end of the pattern is
			for j := range more {
				more[j].reverse(reversed)
			}
			found = append(found, more...)
		}
		if c.EndKind == store.Mediator {
			continue // it leads to no answer alone
		}
		c.reverse(reversed)
		if target != nil && !c.Joins && phrase == "type" {
			if isClass, err := e.isClass(to, s); err != nil {
				return nil, err
			} else if !isClass {
				continue
			}
		}
		found = append(found, c)
	}
	if phrase == "type" || reversed {
		return found, nil
	}
	across, err := e.acrossRows(anchors, target, phrase)
	return append(found, across...), err
}

// isClass reports whether things are of one of some types by a relation.
func (e *explorer) isClass(types []store.EntityID, s walk.Step) (bool, error) {
	if s.Inverse || !slices.Contains(e.types, s.Relation) {
		return false, nil
	}
	lists, err := e.snap.Edges(e.ctx, types, store.In, []store.RelationID{s.Relation})
	return slices.ContainsFunc(lists, func(edges []store.Edge) bool { return len(edges) > 0 }), err
}

func (c *Candidate) reverse(reversed bool) {
	if reversed {
		c.Steps = invert(c.Steps)
	}
}

func (e *explorer) rough(s walk.Step, phrase string) float32 {
	return 0.55*e.cosine(s.Relation, phrase) + 0.45*e.cosine(s.Relation, "")
}

// probe looks at the ends of a candidate. Over mediators it returns the candidates that go on from
// them.
func (e *explorer) probe(c *Candidate, anchors []store.EntityID, target map[store.EntityID]bool,
	phrase string) ([]Candidate, error) {
	s := c.Steps[0]
	limited := anchors
	if target == nil {
		limited = sample(anchors, 8)
	}
	lists, err := e.snap.Edges(e.ctx, limited, s.Direction(), []store.RelationID{s.Relation})
	if err != nil {
		return nil, err
	}
	joined := 0
	for a, edges := range lists {
		joins := false
		if len(anchors) <= linked && len(edges) > 0 && target == nil {
			c.Anchors = append(c.Anchors, limited[a])
		}
		for i, edge := range edges {
			if target[edge.Entity] {
				joins = true
				if len(target) <= linked && !slices.Contains(c.Anchors, edge.Entity) {
					c.Anchors = append(c.Anchors, edge.Entity)
				}
				if len(c.Examples) < examples {
					c.Examples = append(c.Examples, edge.Triple)
				}
			}
			if i >= 4 {
				if target == nil {
					break
				}
				continue
			}
			if target == nil && i == 0 && len(c.Examples) < examples {
				c.Examples = append(c.Examples, edge.Triple)
			}
			c.ends = append(c.ends, edge.Entity)
		}
		if joins {
			joined++
			if len(anchors) <= linked {
				c.Anchors = append(c.Anchors, limited[a])
			}
		}
	}
	mediators := e.classifyEnds(c)
	if target != nil {
		c.Joins = joined > 0
		c.Coverage = float32(joined) / float32(max(len(limited), 1))
	}
	if err := e.typeEnds(c); err != nil {
		return nil, err
	}
	for _, t := range c.EndTypes {
		c.TypeMatch = c.TypeMatch || kgtext.SharedWords(t, phrase) == 1
	}
	if c.EndKind != store.Mediator || len(mediators) == 0 {
		return nil, nil
	}
	return e.onward(*c, sample(mediators, 12), target, phrase)
}

// classifyEnds says of which kind most ends of a candidate are and how many can be compared, and returns
// the mediators among them.
func (e *explorer) classifyEnds(c *Candidate) (mediators []store.EntityID) {
	kinds := map[store.Kind]int{}
	comparables := 0
	for _, id := range c.ends {
		kind := e.snap.Kind(id)
		if kinds[kind]++; kinds[kind] > kinds[c.EndKind] || kinds[kind] == kinds[c.EndKind] && kind < c.EndKind {
			c.EndKind = kind
		}
		if kind == store.Mediator {
			mediators = append(mediators, id)
		} else if execute.Comparable(e.snap.EntityName(id), kind) {
			comparables++
		}
	}
	c.Comparable = float32(comparables) / float32(max(len(c.ends), 1))
	return mediators
}

// typeEnds says what the ends of a candidate are. What is of a kind is no number, whatever its name: the order 10248.
func (e *explorer) typeEnds(c *Candidate) error {
	if len(e.types) == 0 || c.EndKind == store.Mediator {
		return nil
	}
	lists, err := e.snap.Edges(e.ctx, sample(c.ends, 16), store.Out, e.types)
	if err != nil {
		return err
	}
	counts, typed := map[string]int{}, 0
	for _, edges := range lists {
		typed += min(len(edges), 1)
		for _, edge := range edges {
			counts[e.snap.EntityName(edge.Entity)]++
		}
	}
	if 2*typed > len(lists) {
		c.Comparable = 0
	}
	c.EndTypes = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	c.EndTypes = c.EndTypes[:min(len(c.EndTypes), 4)]
	return nil
}

// onward returns the candidates that go on from mediators.
func (e *explorer) onward(first Candidate, mediators []store.EntityID, target map[store.EntityID]bool,
	phrase string) ([]Candidate, error) {
	counts := map[walk.Step]int{}
	for _, id := range mediators {
		for _, dir := range []store.Direction{store.Out, store.In} {
			relations, err := e.snap.Relations(e.ctx, id, dir)
			if err != nil {
				return nil, err
			}
			for _, r := range relations {
				counts[walk.Step{Relation: r.Relation, Inverse: dir == store.In}]++
			}
		}
	}
	back := first.Steps[0].Reverse()
	var found []Candidate
	for _, s := range slices.SortedFunc(maps.Keys(counts), walk.CompareSteps) {
		if s == back {
			continue
		}
		c := Candidate{Steps: []walk.Step{first.Steps[0], s}, Coverage: first.Coverage, Anchors: first.Anchors,
			Words:    e.matchWords(s.Relation, phrase),
			Phrase:   max(e.cosine(s.Relation, phrase), (e.cosine(s.Relation, phrase)+first.Phrase)/2),
			Question: max(e.cosine(s.Relation, ""), (e.cosine(s.Relation, "")+first.Question)/2),
			Triples:  e.snap.RelationTriples(s.Relation)}
		lists, err := e.snap.Edges(e.ctx, mediators, s.Direction(), []store.RelationID{s.Relation})
		if err != nil {
			return nil, err
		}
		for _, edges := range lists {
			for _, edge := range edges {
				c.ends = append(c.ends, edge.Entity)
				c.Joins = c.Joins || target[edge.Entity]
				if len(c.Examples) < examples {
					c.Examples = append(c.Examples, edge.Triple)
				}
			}
		}
		if mediators := e.classifyEnds(&c); len(c.ends) == 0 || len(mediators) > 0 {
			continue
		}
		c.ends = nil
		found = append(found, c)
	}
	return found, nil
}

// areOf reports whether what has a relation is of the kind that a phrase says, by its types.
func (e *explorer) areOf(s walk.Step, phrase string) (bool, error) {
	things, err := e.subjects(s)
	if err != nil || len(e.types) == 0 {
		return false, err
	}
	lists, err := e.snap.Edges(e.ctx, sample(things, linked), store.Out, e.types)
	isOf := func(edge store.Edge) bool { return kgtext.SharedWords(e.snap.EntityName(edge.Entity), phrase) == 1 }
	isOther := func(edges []store.Edge) bool { return !slices.ContainsFunc(edges, isOf) }
	return len(lists) > 0 && !slices.ContainsFunc(lists, isOther), err
}

// everywhere returns the relations of the whole knowledge graph that are nearest to a phrase, in the
// direction of their triples, but those that lead to what the pattern starts from: directors are not what is
// "directed by" something, and the software developed is no "developer".
func (e *explorer) everywhere(phrase string, most int, kinds ...string) ([]Candidate, error) {
	v := e.vectors[phrase]
	if len(v) == 0 {
		return nil, nil
	}
	lists, err := e.snap.SearchRelations(e.ctx, [][]float32{v, e.vectors[""]}, most)
	if err != nil {
		return nil, err
	}
	var found []Candidate
	seen := map[store.RelationID]bool{}
	for _, hits := range lists {
		for _, h := range hits {
			if seen[h.Relation] || e.snap.RelationTriples(h.Relation) == 0 {
				continue
			}
			seen[h.Relation] = true
			c := Candidate{Steps: []walk.Step{{Relation: h.Relation}}, Phrase: e.cosine(h.Relation, phrase),
				Words:    e.matchWords(h.Relation, phrase),
				Question: e.cosine(h.Relation, ""), Triples: e.snap.RelationTriples(h.Relation)}
			name := e.snap.RelationName(h.Relation)
			c.TypeMatch = kgtext.IsPatientOf(phrase, name) || slices.ContainsFunc(kinds, func(kind string) bool {
				return kgtext.IsRoleOf(kind, name)
			})
			c.reverse(c.TypeMatch)
			found = append(found, c)
		}
	}
	isSaid := slices.ContainsFunc(found, func(c Candidate) bool { return c.Words == 1 || c.TypeMatch })
	for i := range found {
		c := &found[i]
		isOf := func(kind string) bool { return kgtext.IsNounOf(kind, e.snap.RelationName(c.Steps[0].Relation)) }
		if e.isTable() || !slices.ContainsFunc(kinds, isOf) {
			continue
		}
		areOf, err := e.areOf(c.Steps[0], phrase)
		if err != nil {
			return nil, err
		}
		if areOf {
			c.Phrase, c.Words = 1, 1 // the regions of constituencies, and not whose constituency these are
		}
		if !isSaid || areOf {
			c.TypeMatch = true // of "the films of a genre" it is what leads to a genre
			c.reverse(true)
		}
	}
	if most != maxCandidates {
		return found, nil
	}
	// Nothing anchors the pattern: its kind of ends decides.
	steps := make([]walk.Step, len(found))
	for i, c := range found {
		steps[i] = c.Steps[0]
	}
	if err := e.findSubjects(steps); err != nil {
		return nil, err
	}
	for i := range found {
		c := &found[i]
		if _, err := e.probe(c, sample(e.starts[c.Steps[0]], sampled), nil, phrase); err != nil {
			return nil, err
		}
		c.Coverage = 1
	}
	return found, nil
}
