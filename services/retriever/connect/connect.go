// Package connect finds how entities of a knowledge graph hang together: the
// shortest walks from some to others.
package connect

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/nary"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// Ask says which entities to join.
type Ask struct {
	// From is where walks begin, To where they end.
	From, To []store.EntityID
	// MaxHops is the longest walk, in hops. One over a mediator has two.
	MaxHops int
	// Limit is the most walks from one entity to another.
	Limit int
}

// Walk is a walk and the way it goes: one step less than entities.
type Walk struct {
	walk.Walk
	Steps []walk.Step
}

// Reader is what joining needs of a snapshot.
type Reader interface {
	nary.Reader
	Degree(store.EntityID, store.Direction) int
}

// bounds are what one search may cost, since two hops from a hub lead to most
// of a graph.
type bounds struct {
	// edges is how many edges are read of the store, all hops together: 12
	// bytes each.
	edges int
	// arrivals is how often a hop of any of the searches arrives at an entity:
	// up to 4 bytes each.
	arrivals int
	// walks is how many walks are returned, of all pairs together.
	walks int
}

var defaults = bounds{edges: 1 << 21, arrivals: 1 << 24, walks: 1 << 17}

// Shortest returns for each pair of From and To all its shortest walks, up to
// the limit; a step may go a relation in either direction. The pairs with the
// shortest walks are first, those alike in the order of From, then To; the
// walks of a pair are ordered by their first relation, its direction and where
// it leads, then by the second, and so on. An entity is not joined with itself.
//
// The search goes breadth first from both sides at once, a hop from whichever
// side is cheaper, and reads the store twice per hop: for the outgoing and the
// incoming edges of all entities where the last hop arrived. truncated says
// that the limit left walks out, or that hubs were not passed because reading
// them would cost too much: then walks may be missing, and a pair may be joined
// by longer walks than its shortest.
func Shortest(ctx context.Context, snap Reader, ask Ask) (walks []Walk, truncated bool, err error) {
	return shortest(ctx, snap, ask, defaults)
}

func shortest(ctx context.Context, snap Reader, ask Ask, within bounds) ([]Walk, bool, error) {
	s := newSearch(snap, ask, within)
	s.meet() // entities on both sides
	var walks []Walk
	for hop := 0; hop < ask.MaxHops && s.open > 0; hop++ {
		if err := s.hop(ctx); err != nil {
			return nil, false, err
		}
		for _, met := range s.meet() {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
			some, more := s.between(met).walks(min(ask.Limit, within.walks-len(walks)))
			walks = append(walks, some...)
			s.truncated = s.truncated || more
		}
	}
	return walks, s.truncated, date(ctx, snap, walks)
}

// date fills in when walks hold that pass mediators.
func date(ctx context.Context, snap Reader, walks []Walk) error {
	var mediators []store.EntityID
	for _, w := range walks {
		for _, e := range w.Entities[1 : len(w.Entities)-1] {
			if snap.Kind(e) == store.Mediator {
				mediators = append(mediators, e)
			}
		}
	}
	slices.Sort(mediators)
	valid, err := nary.Validity(ctx, snap, slices.Compact(mediators))
	if err != nil {
		return err
	}
	for i, w := range walks {
		for _, e := range w.Entities {
			if v, ok := valid[e]; ok {
				walks[i].Validity = &v
			}
		}
	}
	return nil
}
