package walk

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// partialWalksPerWalk is the number of partial walks kept per requested walk, minPartialWalks the
// minimum: many partial walks end before the last hop.
const (
	partialWalksPerWalk = 20
	minPartialWalks     = 2000
)

// breadth is the number of partial walks kept per node and topic entity.
func (p *pass) breadth() int { return max(p.limit.Walks*partialWalksPerWalk, minPartialWalks) }

// truncateArrivals keeps at most breadth of the arrivals from first on.
func (p *pass) truncateArrivals(first int) {
	kept := keepFamous(p, p.arrivals[first:], func(a arrival) store.EntityID { return a.entity })
	p.arrivals = append(p.arrivals[:first], kept...)
}

// limitEdges keeps at most breadth of a hub's edges.
func (p *pass) limitEdges(edges []store.Edge) []store.Edge {
	return keepFamous(p, edges, func(e store.Edge) store.EntityID { return e.Entity })
}

// keepFamous keeps at most breadth items: those at entities of the highest degree, in their order.
func keepFamous[T any](p *pass, items []T, entity func(T) store.EntityID) []T {
	if len(items) <= p.breadth() {
		return items
	}
	p.truncated = true
	kept := bestIndices(len(items), p.breadth(), func(i int) uint32 { return p.degree(entity(items[i])) })
	few := make([]T, len(kept))
	for to, i := range kept {
		few[to] = items[i]
	}
	return few
}

func (p *pass) degree(e store.EntityID) uint32 {
	return uint32(min(p.snap.Degree(e, store.Out)+p.snap.Degree(e, store.In), math.MaxUint32))
}

// selectWalks keeps the walks of a topic entity, given by their last hops, that the limit allows:
// the nearest to the question or, without one, those with ends of the highest degree.
func (p *pass) selectWalks(walks []int32) ([]int32, error) {
	if len(walks) <= p.limit.Walks {
		return walks, nil
	}
	p.truncated = true
	near, err := p.questionCosines(walks)
	if err != nil {
		return nil, err
	}
	fame := func(i int) uint32 { return p.degree(p.arrivals[walks[i]].entity) }
	var kept []int
	if near == nil {
		kept = bestIndices(len(walks), p.limit.Walks, fame)
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

// questionCosines returns the mean cosine of each walk's triples to the question; nil without a
// question or if the graph's triples have no vectors.
func (p *pass) questionCosines(walks []int32) ([]float32, error) {
	if err := p.fetchQuestion(); err != nil || p.question == nil {
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

// fetchQuestion fetches the question's vector once.
func (p *pass) fetchQuestion() (err error) {
	if p.questionFetched || p.limit.Question == nil {
		return nil
	}
	p.questionFetched = true
	p.question, err = p.limit.Question(p.ctx)
	return err
}

// bestIndices returns which k of n have the highest scores, ascending; of ties the first. It holds
// at most k of them at a time.
func bestIndices(n, k int, score func(i int) uint32) []int {
	// A min-heap. A lower position has a higher complement, which breaks ties.
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
			replaceTop(heap, key)
		}
	}
	kept := make([]int, len(heap))
	for i, key := range heap {
		kept[i] = int(^uint32(key))
	}
	slices.Sort(kept)
	return kept
}

// replaceTop replaces the top of a heap.
func replaceTop(heap []uint64, key uint64) {
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
