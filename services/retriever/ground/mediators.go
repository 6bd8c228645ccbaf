package ground

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/hub"
	"github.com/triplemesh/triplemesh/services/retriever/nary"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// What looking through mediators may cost: joined facts have to be encoded.
const (
	// joins is the most facts that one triple with a mediator is turned into.
	joins = 8
	// hitsJoined is the most facts that all hits with a mediator are turned into.
	hitsJoined = 32
	// behind is how many facts with a mediator that are no hits are looked
	// through, behindJoined the most facts they are turned into.
	behind, behindJoined = 6, 8
	// spokesRead is the most edges of a mediator that are looked at in each
	// direction.
	spokesRead = 256
)

// lookThrough replaces the hits that begin or end in a mediator by the facts
// that it joins.
func (g *grounding) lookThrough(ctx context.Context) (int, error) {
	before := len(g.hits)
	clear, joined, err := g.join(ctx, g.hits, hitsJoined)
	if err != nil || len(clear) == before {
		return 0, err
	}
	if err := g.score(ctx, joined); err != nil {
		return 0, err
	}
	g.hits = append(clear, joined...)
	slices.SortFunc(g.hits, byScore)
	return len(joined), nil
}

// lookBehind returns what the facts with a mediator that have the best claims
// say with it looked through; those too far from the best claim of all would
// not be shown.
func (g *grounding) lookBehind(ctx context.Context, veiled []found, best float32) ([]found, error) {
	veiled = slices.DeleteFunc(veiled, func(f found) bool { return f.claim < best-g.options.MaxGap })
	slices.SortFunc(veiled, byClaim)
	_, joined, err := g.join(ctx, veiled[:min(len(veiled), behind)], behindJoined)
	if err != nil {
		return nil, err
	}
	return joined, g.score(ctx, joined)
}

// join parts facts into those without a mediator and what the others, best
// first, say with the mediator looked through: X r1 m and m r2 Y become
// "X [r1 / r2] Y". Graphs differ in the way they point at a mediator, so the
// direction of its edges is left aside. At most limit facts come of it, those
// whose second relation is nearest to what was asked; they are not scored yet.
func (g *grounding) join(ctx context.Context, facts []found, limit int) (clear, joined []found, err error) {
	var mediators []store.EntityID
	for _, f := range facts {
		switch s, o := g.opaque(f.subject), g.opaque(f.object); {
		case s && !o:
			mediators = append(mediators, f.subject)
		case o && !s:
			mediators = append(mediators, f.object)
		case !s && !o:
			clear = append(clear, f)
		}
	}
	if len(mediators) == 0 {
		return clear, nil, nil
	}
	slices.Sort(mediators)
	mediators = slices.Compact(mediators)
	edges, err := g.spokes(ctx, mediators)
	if err != nil {
		return nil, nil, err
	}
	type key struct {
		subject, object  store.EntityID
		relation, second store.RelationID
	}
	seen := map[key]bool{}
	for _, f := range facts {
		inner := g.opaque(f.subject)
		if inner == g.opaque(f.object) {
			continue
		}
		mediator, outer := f.object, f.subject
		if inner {
			mediator, outer = f.subject, f.object
		}
		if at := g.options.Filter.At; at != "" && !g.valid[mediator].Holds(at) {
			continue
		}
		n := 0
		for _, e := range edges[mediator] {
			fact := found{subject: outer, object: e.Entity, relation: f.relation, second: e.Relation, id: f.id, joined: true, mediator: mediator}
			if inner {
				fact.subject, fact.object, fact.relation, fact.second = e.Entity, outer, e.Relation, f.relation
			}
			fact.about = fact.subject
			k := key{fact.subject, fact.object, fact.relation, fact.second}
			if e.Entity == outer || g.opaque(e.Entity) || seen[k] || n == joins {
				continue
			}
			seen[k] = true
			n++
			joined = append(joined, fact)
		}
	}
	return clear, joined[:min(len(joined), limit)], nil
}

// spokes lists the edges of mediators, whichever way they point, those nearest
// to what was asked first, and notes when the mediators' facts hold.
func (g *grounding) spokes(ctx context.Context, mediators []store.EntityID) (map[store.EntityID][]store.Edge, error) {
	edges := make(map[store.EntityID][]store.Edge, len(mediators))
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := g.snap.Edges(ctx, mediators, dir, nil)
		if err != nil {
			return nil, err
		}
		for i, m := range mediators {
			edges[m] = append(edges[m], hub.Cut(lists[i], spokesRead, g.judge)...)
		}
	}
	for _, list := range edges {
		slices.SortStableFunc(list, func(a, b store.Edge) int {
			return cmp.Compare(g.relevant(b.Relation).any, g.relevant(a.Relation).any)
		})
	}
	valid, err := nary.Validity(ctx, g.snap, mediators)
	if err != nil {
		return nil, err
	}
	maps.Copy(g.valid, valid)
	return edges, nil
}

func (g *grounding) opaque(e store.EntityID) bool { return g.snap.Kind(e) == store.Mediator }
