package walk

import "github.com/triplemesh/triplemesh/services/retriever/store"

// bounds are what one call may cost, whatever it asks for: each of its plans may
// go on from thousands of entities, and each of these be a hub.
type bounds struct {
	// edges is how many edges are read of the store, all hops together: 12 bytes
	// each. Those of one entity are read whole.
	edges int
	// arrivals is how many partial walks there are, all hops together: 16 bytes
	// each.
	arrivals int
	// walks is how many walks are returned, of all plans together.
	walks int
}

var defaults = bounds{edges: 1 << 22, arrivals: 1 << 21, walks: 1 << 17}

const (
	// part is how many edges are read at a time, unless one entity has more.
	part = 1 << 18
	// together is how many entities are read at a time whatever they have: to
	// count their edges first may cost more than to read them.
	together = 16
)

// read reads the edges of entities, one read of the store where there are not
// too many, and none of those for which there is no room left.
func (p *pass) read(entities []store.EntityID, dir store.Direction, relations []store.RelationID) ([][]store.Edge, error) {
	var lists [][]store.Edge
	for from := 0; from < len(entities); {
		if p.left.edges <= 0 {
			p.truncated = true
			return append(lists, make([][]store.Edge, len(entities)-from)...), nil
		}
		to := len(entities)
		if to-from > together {
			to = p.affordable(entities, from, dir)
		}
		some, err := p.snap.Edges(p.ctx, entities[from:to], dir, relations)
		if err != nil {
			return nil, err
		}
		for _, list := range some {
			p.left.edges -= len(list)
		}
		if lists == nil && to == len(entities) {
			return some, nil
		}
		lists = append(lists, some...)
		from = to
	}
	return lists, nil
}

// affordable is how far from an entity on those that follow can be read in one
// part: one entity at least.
func (p *pass) affordable(entities []store.EntityID, from int, dir store.Direction) int {
	degree := 0
	for to := from; to < len(entities); to++ {
		if degree += p.snap.Degree(entities[to], dir); degree > min(part, p.left.edges) && to > from {
			return to
		}
	}
	return len(entities)
}

// room tells whether there may be more partial walks.
func (p *pass) room() bool {
	if len(p.arrivals) < p.left.arrivals {
		return true
	}
	p.truncated = true
	return false
}
