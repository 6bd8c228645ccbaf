package ground

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/hub"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// read lists the facts around entities in a direction that pass the filter,
// scored: at most MaxRead, of hubs those that matter most. What was read
// before is not read again.
func (g *grounding) read(ctx context.Context, entities []store.EntityID, dir store.Direction) (map[store.EntityID][]found, error) {
	var fresh []store.EntityID
	for _, e := range entities {
		if _, ok := g.around[dir][e]; !ok {
			fresh = append(fresh, e)
		}
	}
	if len(fresh) == 0 {
		return g.around[dir], nil
	}
	lists, err := g.snap.Edges(ctx, fresh, dir, nil)
	if err != nil {
		return nil, err
	}
	lengths := make([]int, len(lists))
	for i, list := range lists {
		lengths[i] = len(list)
	}
	limit := hub.Level(lengths, g.options.MaxRead)
	var facts []found
	ends := make([]int, len(fresh))
	for i, e := range fresh {
		for _, edge := range hub.Cut(lists[i], limit, g.judge) {
			f := found{about: e, subject: e, object: edge.Entity, relation: edge.Relation, id: edge.Triple}
			if dir == store.In {
				f.subject, f.object = edge.Entity, e
			}
			if g.passes == nil || g.passes(f.id) {
				facts = append(facts, f)
			}
		}
		ends[i] = len(facts)
	}
	if err := g.score(ctx, facts); err != nil {
		return nil, err
	}
	first := 0
	for i, e := range fresh {
		g.around[dir][e] = facts[first:ends[i]:ends[i]]
		first = ends[i]
	}
	return g.around[dir], nil
}

// newJudge says which of a hub's edges matter to the question.
func (g *grounding) newJudge() hub.Judge {
	return hub.Judge{
		Relevance: func(r store.RelationID) float32 { return g.relevant(r).any },
		Named:     func(e store.EntityID) bool { return g.mentioned[e] },
		Degree:    func(e store.EntityID) int { return g.snap.Degree(e, store.Out) + g.snap.Degree(e, store.In) },
	}
}
