package subjectfirst

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/hub"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// What choosing candidates may cost.
const (
	// linkedTexts is how many texts are searched for names, linked how many
	// entities each of them is linked to.
	linkedTexts, linked = 16, 5
	// sameName is how many entities of one name are candidates, the best known;
	// alike how many whose names resemble one that nothing has, and
	// leastAlike how much they must.
	sameName, alike, leastAlike = 3, 3, 0.6
	// neighbours is how many entities next to the candidates are candidates too
	// where a pseudo-graph goes on.
	neighbours = 32
	// nearest is how many triples are around the candidates themselves; the rest
	// is left for those around mediators and neighbours.
	nearest = MaxTriples * 3 / 4
)

// candidates are the triples worth encoding, ascending.
func (s *Snapshot) candidates(ctx context.Context, queries [][]float32, filter store.Filter) ([]store.TripleID, error) {
	entities := filter.Subjects
	if entities == nil {
		var err error
		if entities, err = s.entities(ctx); err != nil {
			return nil, err
		}
	}
	judge := s.judge(queries, entities)
	triples, ends, err := s.around(ctx, entities, nearest, judge, filter)
	if err != nil {
		return nil, err
	}
	var beyond []store.EntityID
	for _, e := range ends {
		if (s.ask.Chained || s.Kind(e) == store.Mediator) && len(beyond) < neighbours && !slices.Contains(entities, e) && !slices.Contains(beyond, e) {
			beyond = append(beyond, e)
		}
	}
	more, _, err := s.around(ctx, beyond, MaxTriples-len(triples), judge, filter)
	if err != nil {
		return nil, err
	}
	triples = append(triples, more...)
	slices.Sort(triples)
	return slices.Compact(triples), nil
}

// entities are those that the ask may mean.
func (s *Snapshot) entities(ctx context.Context) ([]store.EntityID, error) {
	var found []store.EntityID
	add := func(e store.EntityID) {
		if s.Kind(e) != store.Mediator && !slices.Contains(found, e) {
			found = append(found, e)
		}
	}
	for _, text := range s.ask.Texts[:min(len(s.ask.Texts), linkedTexts)] {
		links, err := link.Entities(ctx, s.Snapshot, s.encoder, text, linked)
		if err != nil {
			return nil, err
		}
		for _, l := range links {
			add(l.Entity)
		}
	}
	for _, name := range s.ask.Names {
		named, err := s.named(ctx, store.Fold(name))
		if err != nil {
			return nil, err
		}
		for _, e := range named {
			add(e)
		}
	}
	return found, nil
}

// named are the best known entities of a name, or where there is none those
// whose names resemble it.
func (s *Snapshot) named(ctx context.Context, key string) ([]store.EntityID, error) {
	matches, err := s.Match(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(matches) > 0 {
		matches = slices.Clone(matches)
		slices.SortStableFunc(matches, func(a, b store.EntityID) int { return cmp.Compare(s.degree(b), s.degree(a)) })
		return matches[:min(len(matches), sameName)], nil
	}
	resembling, err := s.Fuzzy(ctx, key, leastAlike, alike)
	if err != nil {
		return nil, err
	}
	for _, m := range resembling {
		matches = append(matches, m.Entity)
	}
	return matches, nil
}

func (s *Snapshot) degree(e store.EntityID) int {
	return s.Degree(e, store.Out) + s.Degree(e, store.In)
}

// around returns at most limit triples around entities, those that matter most
// of the entities that have too many, and the entities at their other ends, the
// ones over the most relevant relations first.
func (s *Snapshot) around(ctx context.Context, entities []store.EntityID, limit int, judge hub.Judge, filter store.Filter) ([]store.TripleID, []store.EntityID, error) {
	if len(entities) == 0 || limit <= 0 {
		return nil, nil, nil
	}
	var lists [][]store.Edge
	var lengths []int
	for _, dir := range []store.Direction{store.Out, store.In} {
		if dir == store.In && filter.Subjects != nil {
			break
		}
		of, err := s.Edges(ctx, entities, dir, filter.Relations)
		if err != nil {
			return nil, nil, err
		}
		for _, list := range of {
			lists = append(lists, list)
			lengths = append(lengths, len(list))
		}
	}
	passes := filter.Passes(s)
	var chosen []store.Edge
	level := hub.Level(lengths, limit)
	for _, list := range lists {
		for _, e := range hub.Cut(list, level, judge) {
			if passes == nil || passes(e.Triple) {
				chosen = append(chosen, e)
			}
		}
	}
	relevance := map[store.RelationID]float32{}
	for _, e := range chosen {
		relevance[e.Relation] = judge.Relevance(e.Relation)
	}
	slices.SortFunc(chosen, func(a, b store.Edge) int {
		return cmp.Or(cmp.Compare(relevance[b.Relation], relevance[a.Relation]), cmp.Compare(a.Triple, b.Triple))
	})
	triples := make([]store.TripleID, len(chosen))
	ends := make([]store.EntityID, len(chosen))
	for i, e := range chosen {
		triples[i], ends[i] = e.Triple, e.Entity
	}
	return triples, ends, nil
}

func (s *Snapshot) judge(queries [][]float32, entities []store.EntityID) hub.Judge {
	known := map[store.RelationID]float32{}
	return hub.Judge{
		Relevance: func(r store.RelationID) float32 {
			nearest, ok := known[r]
			if ok {
				return nearest
			}
			if vector := s.RelationVector(r); vector != nil {
				for _, q := range queries {
					nearest = max(nearest, dot.Product(q, vector))
				}
			}
			known[r] = nearest
			return nearest
		},
		Named:  func(e store.EntityID) bool { return slices.Contains(entities, e) },
		Degree: s.degree,
	}
}

// best returns the k triples with the best scores; equal ones are in the order
// of their numbers.
func best(triples []store.TripleID, scores []float32, k int) []store.Hit {
	hits := make([]store.Hit, len(triples))
	for i, id := range triples {
		hits[i] = store.Hit{Triple: id, Score: scores[i]}
	}
	slices.SortFunc(hits, func(a, b store.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Triple, b.Triple))
	})
	return hits[:min(k, len(hits))]
}
