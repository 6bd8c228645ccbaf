package walk

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// spare is how many partial walks are kept per walk asked for, and at least
// how many: many of them end before the last hop.
const (
	spare = 20
	least = 2000
)

// breadth is how many partial walks of a node are kept per topic entity.
func (p *pass) breadth() int { return max(p.limit.Walks*spare, least) }

// bound keeps no more than breadth of the arrivals from began on: those at the
// best known entities, in the order they have.
func (p *pass) bound(began int) {
	some := p.arrivals[began:]
	if len(some) <= p.breadth() {
		return
	}
	p.truncated = true
	kept := best(len(some), p.breadth(), func(i int) uint32 { return p.fame(some[i].entity) })
	for to, i := range kept {
		some[to] = some[i]
	}
	p.arrivals = p.arrivals[:began+len(kept)]
}

// few keeps no more than breadth of a hub's edges, as bound does.
func (p *pass) few(edges []store.Edge) []store.Edge {
	if len(edges) <= p.breadth() {
		return edges
	}
	p.truncated = true
	kept := best(len(edges), p.breadth(), func(i int) uint32 { return p.fame(edges[i].Entity) })
	few := make([]store.Edge, len(kept))
	for to, i := range kept {
		few[to] = edges[i]
	}
	return few
}

// fame is how well known an entity is: the number of its triples.
func (p *pass) fame(e store.EntityID) uint32 {
	return uint32(min(p.snap.Degree(e, store.Out)+p.snap.Degree(e, store.In), math.MaxUint32))
}

// choose keeps those of a topic entity's walks, given by their last hops, that
// the limit allows: the nearest to the question or, without one, those with
// the best known ends.
func (p *pass) choose(walks []int32) ([]int32, error) {
	if len(walks) <= p.limit.Walks {
		return walks, nil
	}
	p.truncated = true
	near, err := p.nearness(walks)
	if err != nil {
		return nil, err
	}
	fame := func(i int) uint32 { return p.fame(p.arrivals[walks[i]].entity) }
	var kept []int
	if near == nil {
		kept = best(len(walks), p.limit.Walks, fame)
	} else {
		kept = make([]int, len(walks))
		for i := range kept {
			kept[i] = i
		}
		slices.SortFunc(kept, func(a, b int) int {
			return cmp.Or(cmp.Compare(near[b], near[a]), cmp.Compare(fame(b), fame(a)), cmp.Compare(a, b))
		})
		kept = kept[:p.limit.Walks]
		slices.Sort(kept)
	}
	chosen := make([]int32, len(kept))
	for to, i := range kept {
		chosen[to] = walks[i]
	}
	return chosen, nil
}

// nearness is the mean cosine of each walk's triples to the question; nil
// without a question, or where the graph's triples have no vectors.
func (p *pass) nearness(walks []int32) ([]float32, error) {
	if err := p.ask(); err != nil || p.question == nil {
		return nil, err
	}
	var triples []store.TripleID
	for _, w := range walks {
		for at := w; at >= 0; at = p.arrivals[at].from {
			triples = append(triples, p.arrivals[at].triple)
		}
	}
	slices.Sort(triples)
	triples = slices.Compact(triples)
	scores, err := p.snap.ScoreTriples(p.ctx, [][]float32{p.question}, triples)
	if errors.Is(err, store.ErrNoVectors) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	near := make([]float32, len(walks))
	for i, w := range walks {
		hops := 0
		for at := w; at >= 0; at = p.arrivals[at].from {
			of, _ := slices.BinarySearch(triples, p.arrivals[at].triple)
			near[i] += scores[0][of]
			hops++
		}
		near[i] /= float32(hops)
	}
	return near, nil
}

// ask fetches the question's vector once.
func (p *pass) ask() (err error) {
	if p.asked || p.limit.Question == nil {
		return nil
	}
	p.asked = true
	p.question, err = p.limit.Question(p.ctx)
	return err
}

// best returns which k of n have the highest scores, ascending; of equal ones
// the first. It holds no more than k of them at a time.
func best(n, k int, score func(i int) uint32) []int {
	// A heap with the worst on top. What is lower in the order has the higher
	// complement.
	heap := make([]uint64, 0, k)
	for i := range n {
		key := uint64(score(i))<<32 | uint64(^uint32(i))
		switch {
		case len(heap) < k:
			heap = append(heap, key)
			if len(heap) == k {
				slices.Sort(heap)
			}
		case k > 0 && key > heap[0]:
			sink(heap, key)
		}
	}
	kept := make([]int, len(heap))
	for i, key := range heap {
		kept[i] = int(^uint32(key))
	}
	slices.Sort(kept)
	return kept
}

// sink replaces the top of a heap.
func sink(heap []uint64, key uint64) {
	at := 0
	for child := 1; child < len(heap); child = 2*at + 1 {
		if next := child + 1; next < len(heap) && heap[next] < heap[child] {
			child = next
		}
		if key <= heap[child] {
			break
		}
		heap[at] = heap[child]
		at = child
	}
	heap[at] = key
}
