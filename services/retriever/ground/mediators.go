package ground

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// Limits on joining facts over mediators: joined facts have to be encoded.
const (
	// maxJoinsPerTriple is the maximum number of joined facts of one triple.
	maxJoinsPerTriple = 8
	// maxJoinedHits is the maximum number of joined facts of all hits.
	maxJoinedHits = 32
	// maxMediatorFacts is the number of facts with a mediator, hits aside, that are joined;
	// maxJoinedFacts is the maximum number of joined facts of these.
	maxMediatorFacts, maxJoinedFacts = 6, 8
	// maxMediatorEdges is the maximum number of edges of a mediator read in each direction.
	maxMediatorEdges = 256
)

// resolveMediators replaces the hits that begin or end in a mediator by the facts it joins.
func (g *grounding) resolveMediators(ctx context.Context) (int, error) {
	before := len(g.hits)
	plain, joined, err := g.joinMediators(ctx, g.hits, maxJoinedHits)
	if err != nil || len(plain) == before {
		return 0, err
	}
	if err := g.score(ctx, joined); err != nil {
		return 0, err
	}
	g.hits = append(plain, joined...)
	slices.SortFunc(g.hits, compareByScore)
	return len(joined), nil
}

// joinFactsAround joins the facts with a mediator that have the highest priority, except those too
// far below the best fact to be shown.
func (g *grounding) joinFactsAround(ctx context.Context, facts []candidate, best float32) ([]candidate, error) {
	facts = slices.DeleteFunc(facts, func(f candidate) bool { return f.priority < best-g.options.MaxGap })
	slices.SortFunc(facts, compareByPriority)
	_, joined, err := g.joinMediators(ctx, facts[:min(len(facts), maxMediatorFacts)], maxJoinedFacts)
	if err != nil {
		return nil, err
	}
	return joined, g.score(ctx, joined)
}

// joinMediators splits facts into those without a mediator and, from the others, joined facts: X r1
// m and m r2 Y become "X [r1 / r2] Y". Edges of a mediator count in either direction, because
// graphs differ in how they point at it. It returns at most limit joined facts, of those of a
// mediator first the ones whose second relation is most relevant; they have no score yet.
func (g *grounding) joinMediators(ctx context.Context, facts []candidate,
	limit int) (plain, joined []candidate, err error) {
	var mediators []store.EntityID
	for _, f := range facts {
		switch s, o := g.isMediator(f.subject), g.isMediator(f.object); {
		case s && !o:
			mediators = append(mediators, f.subject)
		case o && !s:
			mediators = append(mediators, f.object)
		case !s && !o:
			plain = append(plain, f)
		}
	}
	if len(mediators) == 0 {
		return plain, nil, nil
	}
	slices.Sort(mediators)
	mediators = slices.Compact(mediators)
	edges, err := g.readMediatorEdges(ctx, mediators)
	if err != nil {
		return nil, nil, err
	}
	type key struct {
		subject, object  store.EntityID
		relation, second store.RelationID
	}
	seen := map[key]bool{}
	for _, f := range facts {
		inner := g.isMediator(f.subject)
		if inner == g.isMediator(f.object) {
			continue
		}
		mediator, outer := f.object, f.subject
		if inner {
			mediator, outer = f.subject, f.object
		}
		if at := g.options.Filter.At; at != "" && !g.validities[mediator].Covers(at) {
			continue
		}
		joins := 0
		for _, e := range edges[mediator] {
			fact := candidate{subject: outer, object: e.Entity, relation: f.relation, second: e.Relation,
				triple: f.triple, joined: true, mediator: mediator}
			if inner {
				fact.subject, fact.object, fact.relation, fact.second = e.Entity, outer, e.Relation, f.relation
			}
			fact.owner = fact.subject
			k := key{fact.subject, fact.object, fact.relation, fact.second}
			if e.Entity == outer || g.isMediator(e.Entity) || seen[k] || joins == maxJoinsPerTriple {
				continue
			}
			seen[k] = true
			joins++
			joined = append(joined, fact)
		}
	}
	return plain, joined[:min(len(joined), limit)], nil
}

// readMediatorEdges returns the edges of mediators in both directions, by falling relevance, and
// stores the mediators' validity.
func (g *grounding) readMediatorEdges(ctx context.Context,
	mediators []store.EntityID) (map[store.EntityID][]store.Edge, error) {
	edges := make(map[store.EntityID][]store.Edge, len(mediators))
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := g.snap.Edges(ctx, mediators, dir, nil)
		if err != nil {
			return nil, err
		}
		for i, m := range mediators {
			edges[m] = append(edges[m], cutEdges(lists[i], maxMediatorEdges, g.ranker)...)
		}
	}
	for _, list := range edges {
		slices.SortStableFunc(list, func(a, b store.Edge) int {
			return cmp.Compare(g.compareRelation(b.Relation).best, g.compareRelation(a.Relation).best)
		})
	}
	valid, err := walk.MediatorValidity(ctx, g.snap, mediators)
	if err != nil {
		return nil, err
	}
	maps.Copy(g.validities, valid)
	return edges, nil
}

func (g *grounding) isMediator(e store.EntityID) bool { return g.snap.Kind(e) == store.Mediator }
