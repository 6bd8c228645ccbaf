package walk

import "github.com/triplemesh/triplemesh/services/retriever/store"

// bounds limit the cost of one call: each plan may continue from thousands of entities, and each of
// these may be a hub.
type bounds struct {
	// edges is the number of edges read from the store in all hops: 12 bytes each. Those of one
	// entity are always read in full.
	edges int
	// arrivals is the number of partial walks of all hops: 16 bytes each.
	arrivals int
	// walks is the number of returned walks of all plans.
	walks int
}

var defaultBounds = bounds{edges: 1 << 22, arrivals: 1 << 21, walks: 1 << 17}

const (
	// maxEdgesPerRead is the maximum number of edges per read, unless one entity has more.
	maxEdgesPerRead = 1 << 18
	// minEntitiesPerRead is the number of entities per read whatever their degrees: summing them up
	// first may cost more than reading the edges.
	minEntitiesPerRead = 16
)

// readEdges reads the edges of entities, in one read of the store unless there are too many.
// Entities beyond the bound get none.
func (p *pass) readEdges(entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) ([][]store.Edge, error) {
	var lists [][]store.Edge
	for from := 0; from < len(entities); {
		if p.remaining.edges <= 0 {
			p.truncated = true
			return append(lists, make([][]store.Edge, len(entities)-from)...), nil
		}
		to := len(entities)
		if to-from > minEntitiesPerRead {
			to = p.affordableEnd(entities, from, dir)
		}
		some, err := p.snap.Edges(p.ctx, entities[from:to], dir, relations)
		if err != nil {
			return nil, err
		}
		for _, list := range some {
			p.remaining.edges -= len(list)
		}
		if lists == nil && to == len(entities) {
			return some, nil
		}
		lists = append(lists, some...)
		from = to
	}
	return lists, nil
}

// affordableEnd returns the end of the entities from `from` on that one read covers: at least one.
func (p *pass) affordableEnd(entities []store.EntityID, from int, dir store.Direction) int {
	degree := 0
	for to := from; to < len(entities); to++ {
		if degree += p.snap.Degree(entities[to], dir); degree > min(maxEdgesPerRead, p.remaining.edges) && to > from {
			return to
		}
	}
	return len(entities)
}

// hasRoom reports whether the bound allows another partial walk.
func (p *pass) hasRoom() bool {
	if len(p.arrivals) < p.remaining.arrivals {
		return true
	}
	p.truncated = true
	return false
}
