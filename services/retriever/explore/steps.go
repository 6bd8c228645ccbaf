package explore

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

func invert(steps []walk.Step) []walk.Step {
	out := make([]walk.Step, len(steps))
	for i, s := range steps {
		out[len(steps)-1-i] = s.Reverse()
	}
	return out
}

// follow returns where steps lead from entities.
func (e *explorer) follow(from []store.EntityID, steps []walk.Step) ([]store.EntityID, error) {
	for _, s := range steps {
		next, _, err := e.followAny(from, s.Direction(), []store.RelationID{s.Relation})
		if err != nil {
			return nil, err
		}
		from = next
	}
	return from, nil
}

// followAny returns where any of some relations leads from entities, and some of the triples.
func (e *explorer) followAny(from []store.EntityID, dir store.Direction,
	relations []store.RelationID) (next []store.EntityID, shown []store.TripleID, err error) {
	lists, err := e.snap.Edges(e.ctx, sample(from, domainSize), dir, relations)
	if err != nil {
		return nil, nil, err
	}
	seen := map[store.EntityID]bool{}
	next = []store.EntityID{}
	for _, edges := range lists {
		for _, edge := range edges {
			if !seen[edge.Entity] && len(next) < domainSize {
				seen[edge.Entity] = true
				next = append(next, edge.Entity)
			}
			if len(shown) < examples {
				shown = append(shown, edge.Triple)
			}
		}
	}
	return next, shown, nil
}

// subjects returns some entities that have a relation.
func (e *explorer) subjects(s walk.Step) ([]store.EntityID, error) {
	err := e.findSubjects([]walk.Step{s})
	return e.starts[s], err
}

// findSubjects looks for some entities that have each relation, in one pass over the entities.
func (e *explorer) findSubjects(steps []walk.Step) error {
	open := map[store.Direction][]store.RelationID{}
	for _, s := range steps {
		if _, known := e.starts[s]; !known && !slices.Contains(open[s.Direction()], s.Relation) {
			open[s.Direction()] = append(open[s.Direction()], s.Relation)
			e.starts[s] = []store.EntityID{}
		}
	}
	var chunk []store.EntityID
	flush := func() error {
		for dir, relations := range open {
			lists, err := e.snap.Edges(e.ctx, chunk, dir, relations)
			if err != nil {
				return err
			}
			for i, edges := range lists {
				for j, edge := range edges {
					s := walk.Step{Relation: edge.Relation, Inverse: dir == store.In}
					if (j == 0 || edges[j-1].Relation != edge.Relation) && len(e.starts[s]) < domainSize {
						e.starts[s] = append(e.starts[s], chunk[i])
					}
				}
			}
			open[dir] = slices.DeleteFunc(relations, func(r store.RelationID) bool {
				return len(e.starts[walk.Step{Relation: r, Inverse: dir == store.In}]) >= sampled*4
			})
			if len(open[dir]) == 0 {
				delete(open, dir)
			}
		}
		chunk = chunk[:0]
		return nil
	}
	looked := 0
	for id := range e.snap.Entities() {
		if len(open) == 0 || looked > 1_000_000 {
			break
		}
		looked++
		if chunk = append(chunk, id); len(chunk) == subjectChunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// subjectChunk is how many entities one read takes.
const subjectChunk = 4096

// sample takes some of a list, evenly spread.
func sample[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	out := make([]T, most)
	for i := range out {
		out[i] = list[i*len(list)/most]
	}
	return out
}

// Score is how well a candidate fits a pattern, for their order: the words of the plan, those of the
// question, and what the graph says.
func Score(c Candidate, valued bool, joins float32) float32 {
	s := 0.55*c.Trust*c.Phrase + (1-0.55*c.Trust)*c.Question + 0.1*c.Coverage + 0.25*c.Trust*c.Words
	if c.Joins {
		s += joins
	}
	if c.Time {
		s += 0.25
	}
	if c.OtherTime && valued {
		s -= 0.3
	}
	if len(c.Steps) == 1 && !c.Steps[0].Inverse {
		s += 0.03
	}
	if c.TypeMatch {
		s += 0.3
	}
	if c.TypeMiss {
		s -= 0.6
	}
	if valued {
		s += 0.5 * (c.Comparable - 1)
	}
	return s
}

// matchTypes compares what lies beyond the known end with what the plan says that it is.
func (e *explorer) matchTypes(p *graphv1.QueryPattern, start, end []store.EntityID, candidates []Candidate) error {
	v := p.GetEnd().GetVariable()
	if start == nil && end != nil {
		v = p.GetStart().GetVariable()
	} else if start == nil || end != nil {
		return nil
	}
	if err := e.matchSorts(v, candidates); err != nil {
		return err
	}
	for _, kind := range e.plannedTypes(v) {
		if e.ofName[kind] != nil {
			e.matchNames(e.ofName[kind], candidates)
		}
	}
	wanted, err := e.plannedClasses(v)
	if err != nil || len(wanted) == 0 {
		return err
	}
	for i := range candidates {
		c := &candidates[i]
		if slices.ContainsFunc(c.EndTypes, func(t string) bool { return slices.Contains(wanted, t) }) {
			c.TypeMatch = true
		} else if len(e.types) > 0 && len(c.ends) > 0 {
			c.TypeMiss = true
		}
	}
	return nil
}

// throughPlaces returns what goes on from where things are to where that is, if one step leads to nothing of the kind
// that a pattern asks for: the country of the town that somebody was born in.
func (e *explorer) throughPlaces(o open, candidates []Candidate) (found []Candidate, err error) {
	isSaid := func(c Candidate) bool { return c.TypeMatch || c.Joins }
	if len(e.types) == 0 || o.start == nil || o.pattern.GetEnd().GetVariable() == "" ||
		slices.ContainsFunc(candidates, isSaid) {
		return nil, nil
	}
	if found, err = e.throughNamed(o.phrase, candidates); len(found) > 0 || err != nil {
		return found, err
	}
	kinds := append(e.plannedTypes(o.pattern.GetEnd().GetVariable()), o.phrase)
	isKind := func(t string) bool {
		return slices.ContainsFunc(kinds, func(kind string) bool { return kgtext.SharedWords(t, kind) == 1 })
	}
	isEnd := func(id store.EntityID) bool { return slices.Contains(o.end, id) }
	for _, c := range candidates {
		if len(c.Steps) > 1 || c.Steps[0].Inverse || !kgtext.IsPlace(e.snap.RelationName(c.Steps[0].Relation)) {
			continue
		}
		for range maxPlaces {
			isOn, err := e.goOn(&c)
			if err != nil {
				return nil, err
			}
			if !isOn {
				break
			}
			c.Joins = slices.ContainsFunc(c.ends, isEnd)
			if c.Joins || o.end == nil && slices.ContainsFunc(c.EndTypes, isKind) {
				c.TypeMatch, c.TypeMiss = true, false
				found = append(found, c)
				break
			}
		}
	}
	return found, nil
}

// throughNamed returns what two words lead to, each by a relation of its name: the country of the origin for "origin
// country".
func (e *explorer) throughNamed(phrase string, candidates []Candidate) ([]Candidate, error) {
	first, second, isTwo := strings.Cut(phrase, " ")
	if !isTwo || strings.Contains(second, " ") {
		return nil, nil
	}
	isNamed := func(r store.RelationID, word string) bool {
		return kgtext.SameNoun(kgtext.Fold(kgtext.VerbaliseRelation(e.snap.RelationName(r))), word)
	}
	for _, c := range candidates {
		if len(c.Steps) > 1 || c.Steps[0].Inverse || !isNamed(c.Steps[0].Relation, first) {
			continue
		}
		for _, id := range sample(c.ends, linked) {
			relations, err := e.snap.Relations(e.ctx, id, store.Out)
			if err != nil {
				return nil, err
			}
			at := slices.IndexFunc(relations, func(r store.RelationEdges) bool { return isNamed(r.Relation, second) })
			if at < 0 {
				continue
			}
			c.TypeMatch, c.TypeMiss, c.Words = true, false, 1
			_, err = e.extend(&c, walk.Step{Relation: relations[at].Relation})
			return []Candidate{c}, err
		}
	}
	return nil, nil
}

// maxPlaces is how often what leads to where things are is followed on.
const maxPlaces = 2

// goOn adds to a candidate the step from its ends to where these are: its last relation, or else another one to places.
// It reports whether there is one.
func (e *explorer) goOn(c *Candidate) (bool, error) {
	var next *walk.Step
	for _, id := range sample(c.ends, linked) {
		relations, err := e.snap.Relations(e.ctx, id, store.Out)
		if err != nil {
			return false, err
		}
		for _, r := range relations {
			switch s := (walk.Step{Relation: r.Relation}); {
			case s == c.Steps[len(c.Steps)-1]:
				next = &s
			case next == nil && kgtext.IsPlace(e.snap.RelationName(r.Relation)):
				next = &s
			}
		}
	}
	if next == nil {
		return false, nil
	}
	return e.extend(c, *next)
}

// extend adds a step to a candidate if one of its ends has it, and reports that.
func (e *explorer) extend(c *Candidate, next walk.Step) (bool, error) {
	ends, err := e.follow(c.ends, []walk.Step{next})
	if err != nil || len(ends) == 0 {
		return false, err
	}
	return true, e.leadTo(c, next, ends)
}

// leadTo adds a step to a candidate, which leads to some ends.
func (e *explorer) leadTo(c *Candidate, next walk.Step, ends []store.EntityID) error {
	c.Steps, c.ends = append(slices.Clone(c.Steps), next), ends
	e.classifyEnds(c)
	return e.typeEnds(c)
}

// matchSorts compares what lies beyond the known end with what the plan says that it is, where no type says it but an
// occupation or a genre does.
func (e *explorer) matchSorts(variable string, candidates []Candidate) error {
	var kinds []store.EntityID
	for _, kind := range e.plannedTypes(variable) {
		kinds = append(kinds, e.links[kind]...)
	}
	sorts := slices.Concat(e.sorts...)
	if len(kinds) == 0 || len(sorts) == 0 {
		return nil
	}
	isKind := func(edge store.Edge) bool { return slices.Contains(kinds, edge.Entity) }
	for i := range candidates {
		if candidates[i].TypeMatch {
			continue
		}
		lists, err := e.snap.Edges(e.ctx, sample(candidates[i].ends, 16), store.Out, sorts)
		if err != nil {
			return err
		}
		candidates[i].TypeMatch = slices.ContainsFunc(lists, func(edges []store.Edge) bool {
			return slices.ContainsFunc(edges, isKind)
		})
	}
	return nil
}

// matchNames compares what lies beyond the known end with what has a kind in its name. The only candidate that leads to
// such things is implied by the kind.
func (e *explorer) matchNames(ofName []store.EntityID, candidates []Candidate) {
	var matching []*Candidate
	for i := range candidates {
		c := &candidates[i]
		if len(c.ends) == 0 {
			continue
		}
		c.TypeMatch = slices.Contains(ofName, c.ends[0])
		c.TypeMiss = !c.TypeMatch
		if c.TypeMatch {
			matching = append(matching, c)
		}
	}
	if len(matching) == 1 {
		matching[0].Implied = 1
	}
}

// findClasses returns those of some entities that things are of: the genre Country is no country.
func (e *explorer) findClasses(ids []store.EntityID) (classes []store.EntityID, err error) {
	if len(ids) == 0 || len(e.types) == 0 {
		return ids, nil
	}
	lists, err := e.snap.Edges(e.ctx, ids, store.In, e.types)
	for i, edges := range lists {
		if len(edges) > 0 {
			classes = append(classes, ids[i])
		}
	}
	return classes, err
}

// missTypes marks the candidates with other ends, if the ends of some are what the plan says.
func missTypes(candidates []Candidate) {
	if !slices.ContainsFunc(candidates, func(c Candidate) bool { return c.TypeMatch }) {
		return
	}
	for i := range candidates {
		candidates[i].TypeMiss = candidates[i].TypeMiss || !candidates[i].TypeMatch && len(candidates[i].EndTypes) > 0
	}
}
