package ground

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// readFacts returns the scored facts around entities in a direction that pass the filter: at most
// MaxRead, of hubs those that rank highest. It reads each entity once.
func (g *grounding) readFacts(ctx context.Context, entities []store.EntityID,
	dir store.Direction) (map[store.EntityID][]candidate, error) {
	var fresh []store.EntityID
	for _, e := range entities {
		if _, ok := g.factsAround[dir][e]; !ok {
			fresh = append(fresh, e)
		}
	}
	if len(fresh) == 0 {
		return g.factsAround[dir], nil
	}
	lists, err := g.snap.Edges(ctx, fresh, dir, nil)
	if err != nil {
		return nil, err
	}
	lengths := make([]int, len(lists))
	for i, list := range lists {
		lengths[i] = len(list)
	}
	limit := levelLimit(lengths, g.options.MaxRead)
	var facts []candidate
	ends := make([]int, len(fresh))
	for i, e := range fresh {
		for _, edge := range cutEdges(lists[i], limit, g.ranker) {
			f := candidate{owner: e, subject: e, object: edge.Entity, relation: edge.Relation, triple: edge.Triple}
			if dir == store.In {
				f.subject, f.object = edge.Entity, e
			}
			if g.passes == nil || g.passes(f.triple) {
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
		g.factsAround[dir][e] = facts[first:ends[i]:ends[i]]
		first = ends[i]
	}
	return g.factsAround[dir], nil
}

func (g *grounding) newEdgeRanker() edgeRanker {
	return edgeRanker{
		relevance: func(r store.RelationID) float32 { return g.compareRelation(r).best },
		isNamed:   func(e store.EntityID) bool { return g.isMentioned[e] },
		degree:    func(e store.EntityID) int { return g.snap.Degree(e, store.Out) + g.snap.Degree(e, store.In) },
	}
}

// relevance is a relation's cosine to the question and its best cosine to any text of the plan.
type relevance struct {
	question, best float32
}

func (g *grounding) compareRelation(r store.RelationID) relevance {
	if cached, ok := g.relations[r]; ok {
		return cached
	}
	var result relevance
	if v := g.snap.RelationVector(r); v != nil {
		for i, text := range g.vectors {
			cosine := vector.Dot(text, v)
			result.best = max(result.best, cosine)
			if i == g.plan.question {
				result.question = cosine
			}
		}
	}
	g.relations[r] = result
	return result
}

func (g *grounding) questionRelevance(r store.RelationID) float32 {
	return g.compareRelation(r).question
}
