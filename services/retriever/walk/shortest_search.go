package walk

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// shortestSearch is the state of one call of ShortestWalks.
type shortestSearch struct {
	snap      GraphReader
	sides     [2]searchSide
	edges     map[store.EntityID]nodeEdges
	remaining shortestBounds
	truncated bool
	// joined[i][j] reports whether the walks of the pair sides[0][i], sides[1][j] were found; open
	// counts the remaining pairs.
	joined [][]bool
	open   int
	buffer []store.EntityID
}

// nodeEdges are the edges of an entity by store.Direction.
type nodeEdges [2][]store.Edge

// searchSide are the searches that start at one side.
type searchSide []*ball

// ball holds the entities around one entity.
type ball struct {
	// levels are the entities at each distance in hops, ascending; the first level is the entity
	// itself.
	levels [][]store.EntityID
	// open counts its pairs that are not connected yet; a ball without any does not grow.
	open int
}

func (b *ball) frontier() []store.EntityID { return b.levels[len(b.levels)-1] }

func newShortestSearch(snap GraphReader, req ShortestRequest, within shortestBounds) *shortestSearch {
	s := &shortestSearch{snap: snap, edges: map[store.EntityID]nodeEdges{}, remaining: within}
	from, to := dedupeEntities(req.From), dedupeEntities(req.To)
	for i, ends := range [][]store.EntityID{from, to} {
		for _, e := range ends {
			s.sides[i] = append(s.sides[i], &ball{levels: [][]store.EntityID{{e}},
				open: len(from) + len(to) - len(ends)})
		}
	}
	for range from {
		s.joined = append(s.joined, make([]bool, len(to)))
	}
	s.open = len(from) * len(to)
	return s
}

// dedupeEntities keeps the first of equal entities.
func dedupeEntities(entities []store.EntityID) []store.EntityID {
	seen := map[store.EntityID]bool{}
	var kept []store.EntityID
	for _, e := range entities {
		if !seen[e] {
			seen[e] = true
			kept = append(kept, e)
		}
	}
	return kept
}

// hop grows all open balls of the cheaper side by one level.
func (s *shortestSearch) hop(ctx context.Context) error {
	grown := s.sides[0]
	if s.cost(s.sides[1]) < s.cost(s.sides[0]) {
		grown = s.sides[1]
	}
	if err := s.fetch(ctx, grown); err != nil {
		return err
	}
	for _, b := range grown {
		if b.open > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			b.levels = append(b.levels, s.nextLevel(b))
		}
	}
	return nil
}

// cost is the number of edges that a hop of a side follows.
func (s *shortestSearch) cost(side searchSide) int {
	total := 0
	for _, b := range side {
		if b.open > 0 {
			for _, e := range b.frontier() {
				total += s.degree(e)
			}
		}
	}
	return total
}

func (s *shortestSearch) degree(e store.EntityID) int {
	if known, ok := s.edges[e]; ok {
		return len(known[store.Out]) + len(known[store.In])
	}
	return s.snap.Degree(e, store.Out) + s.snap.Degree(e, store.In)
}

// fetch reads the edges of all frontiers of a side, within the bounds those of entities of the
// lowest degree.
func (s *shortestSearch) fetch(ctx context.Context, side searchSide) error {
	var wanted []store.EntityID
	for _, b := range side {
		if b.open > 0 {
			wanted = append(wanted, b.frontier()...)
		}
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	wanted = slices.DeleteFunc(wanted, func(e store.EntityID) bool {
		_, ok := s.edges[e]
		return ok
	})
	total := 0
	degrees := make(map[store.EntityID]int, len(wanted))
	for _, e := range wanted {
		degrees[e] = s.degree(e)
		total += degrees[e]
	}
	if total > s.remaining.edges {
		s.truncated = true
		slices.SortStableFunc(wanted, func(a, b store.EntityID) int { return cmp.Compare(degrees[a], degrees[b]) })
		total = 0
		for i, e := range wanted {
			if total+degrees[e] > s.remaining.edges {
				wanted = wanted[:i]
				break
			}
			total += degrees[e]
		}
		slices.Sort(wanted)
	}
	s.remaining.edges -= total
	if len(wanted) == 0 {
		return nil
	}
	var lists [2][][]store.Edge
	for _, dir := range []store.Direction{store.Out, store.In} {
		var err error
		if lists[dir], err = s.snap.Edges(ctx, wanted, dir, nil); err != nil {
			return err
		}
	}
	for i, e := range wanted {
		s.edges[e] = nodeEdges{lists[store.Out][i], lists[store.In][i]}
	}
	return nil
}

// nextLevel returns the entities one hop beyond a ball's frontier.
func (s *shortestSearch) nextLevel(b *ball) []store.EntityID {
	next := s.buffer[:0]
	for _, e := range b.frontier() {
		near := s.edges[e]
		if s.remaining.arrivals -= len(near[store.Out]) + len(near[store.In]); s.remaining.arrivals < 0 {
			s.remaining.arrivals, s.truncated = 0, true
			break
		}
		for _, list := range near {
			for _, edge := range list {
				next = append(next, edge.Entity)
			}
		}
	}
	s.buffer = next
	slices.Sort(next)
	next = slices.Compact(next)
	return slices.Clone(slices.DeleteFunc(next, func(e store.EntityID) bool {
		return slices.ContainsFunc(b.levels, func(level []store.EntityID) bool { return containsEntity(level, e) })
	}))
}

// containsEntity reports whether an ascending list contains an entity.
func containsEntity(list []store.EntityID, e store.EntityID) bool {
	_, ok := slices.BinarySearch(list, e)
	return ok
}
