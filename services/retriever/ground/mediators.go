package ground

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// joins is the most facts that one triple with a mediator is turned into.
const joins = 8

// lookThrough replaces the hits that begin or end in an opaque mediator by the
// facts that it joins.
func (g *grounding) lookThrough(ctx context.Context) (int, error) {
	before := len(g.hits)
	clear, joined, err := g.join(ctx, g.hits)
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

// join parts facts into those without a mediator and what the others say with
// the mediator looked through: X r1 m and m r2 Y become "X [r1 / r2] Y".
// Graphs differ in the way they point at a mediator, so the direction of its
// edges is left aside. The joined facts are not scored yet.
func (g *grounding) join(ctx context.Context, facts []found) (clear, joined []found, err error) {
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
	around, err := g.around(ctx, mediators)
	if err != nil {
		return nil, nil, err
	}
	type key struct {
		subject, object store.EntityID
		relation        string
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
		n := 0
		for _, e := range around[mediator] {
			other := found{subject: outer, object: e.Entity, id: f.id, joined: true, validity: f.validity}
			first, second := f.relation, g.snap.RelationName(e.Relation)
			if inner {
				other.subject, other.object = e.Entity, outer
				first, second = second, first
			}
			other.relation = first + " / " + second
			other.about = other.subject
			k := key{other.subject, other.object, other.relation}
			if e.Entity == outer || g.opaque(e.Entity) || seen[k] || n == joins {
				continue
			}
			seen[k] = true
			n++
			joined = append(joined, other)
		}
	}
	return clear, joined, nil
}

// around lists the edges of mediators, whichever way they point.
func (g *grounding) around(ctx context.Context, mediators []store.EntityID) (map[store.EntityID][]store.Edge, error) {
	edges := make(map[store.EntityID][]store.Edge, len(mediators))
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := g.snap.Edges(ctx, mediators, dir, nil)
		if err != nil {
			return nil, err
		}
		for i, m := range mediators {
			edges[m] = append(edges[m], lists[i]...)
		}
	}
	return edges, nil
}

func (g *grounding) opaque(e store.EntityID) bool { return g.snap.Kind(e) == store.Mediator }
