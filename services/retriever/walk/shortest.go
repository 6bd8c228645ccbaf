package walk

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// ShortestRequest is the input of ShortestWalks.
type ShortestRequest struct {
	// From are the entities where walks start, To those where they end.
	From, To []store.EntityID
	// MaxHops is the maximum length of a walk in hops. A fact over a mediator has two.
	MaxHops int
	// Limit is the maximum number of walks from one entity to another.
	Limit int
}

// Connection is a walk with its steps, one fewer than entities.
type Connection struct {
	Walk
	Steps []Step
}

// GraphReader is the part of a snapshot that ShortestWalks reads.
type GraphReader interface {
	MediatorReader
	Degree(store.EntityID, store.Direction) int
}

// shortestBounds limit the cost of one search, since two hops from a hub lead to most of a graph.
type shortestBounds struct {
	// edges is the number of edges read from the store in all hops: 12 bytes each.
	edges int
	// arrivals counts, over all hops of all searches, the arrivals at an entity: up to 4 bytes
	// each.
	arrivals int
	// walks is the number of returned walks of all pairs together.
	walks int
}

var defaultShortestBounds = shortestBounds{edges: 1 << 21, arrivals: 1 << 24, walks: 1 << 17}

// ShortestWalks returns, for each pair of From and To, all its shortest walks up to the limit. A
// step may follow a relation in either direction. Pairs are ordered by the length of their walks,
// then by From, then by To; the walks of a pair by the relation, direction and entity of the first
// step, then of the second, and so on. An entity is not connected with itself.
//
// The search is breadth first from both sides, one hop at a time from the cheaper side, and reads
// the store twice per hop: the outgoing and the incoming edges of all entities reached last.
// truncated reports that the limit removed walks or that hubs were skipped because reading them
// would cost too much: then walks may be missing, or longer than the shortest.
func ShortestWalks(ctx context.Context, snap GraphReader,
	req ShortestRequest) (walks []Connection, truncated bool, err error) {
	return shortestWalks(ctx, snap, req, defaultShortestBounds)
}

func shortestWalks(ctx context.Context, snap GraphReader, req ShortestRequest,
	within shortestBounds) ([]Connection, bool, error) {
	s := newShortestSearch(snap, req, within)
	s.meet() // entities on both sides
	var walks []Connection
	for hop := 0; hop < req.MaxHops && s.open > 0; hop++ {
		if err := s.hop(ctx); err != nil {
			return nil, false, err
		}
		for _, met := range s.meet() {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
			some, more := s.buildWalkGraph(met).firstWalks(min(req.Limit, within.walks-len(walks)))
			walks = append(walks, some...)
			s.truncated = s.truncated || more
		}
	}
	return walks, s.truncated, fillConnectionValidity(ctx, snap, walks)
}

// fillConnectionValidity sets the validity of walks over mediators.
func fillConnectionValidity(ctx context.Context, snap GraphReader, walks []Connection) error {
	var mediators []store.EntityID
	for _, w := range walks {
		for _, e := range w.Entities[1 : len(w.Entities)-1] {
			if snap.Kind(e) == store.Mediator {
				mediators = append(mediators, e)
			}
		}
	}
	slices.Sort(mediators)
	valid, err := MediatorValidity(ctx, snap, slices.Compact(mediators))
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
