package vector

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"sync/atomic"
)

// candidate is a row that may be among the best: its score is about score and lies, as far as the
// columns that were read can tell, between lower and upper.
type candidate struct {
	row                 uint32
	score, lower, upper float32
}

// capAt lowers the bounds to an upper bound by a coarser column. That bound may be too low, and its
// row is left out once the floor is above it: the row must not count either if it was read before,
// or what is found would depend on which worker came first.
func (c candidate) capAt(upper float32) candidate {
	c.lower, c.upper = min(c.lower, upper), min(c.upper, upper)
	return c
}

// topK collects one query's candidates. The k-th best lower bound is the floor: a row whose upper
// bound is below it cannot be among the k best.
type topK struct {
	k      int
	floor  float32
	lowers boundHeap
	rows   []candidate
	limit  int
}

// maxCandidates is the number of candidates that are kept whatever their bounds, for graphs in
// which most vectors are alike.
func maxCandidates(k int) int { return 4096 + 16*k }

func newTopK(k int) *topK {
	return &topK{k: k, floor: float32(math.Inf(-1)), limit: 64 + 4*k}
}

// add offers a row.
func (b *topK) add(c candidate) {
	if !(c.upper >= b.floor) {
		return
	}
	switch {
	case len(b.lowers) < b.k:
		heap.Push(&b.lowers, c.lower)
	case c.lower > b.lowers[0]:
		b.lowers[0] = c.lower
		heap.Fix(&b.lowers, 0)
	}
	if len(b.lowers) == b.k {
		b.floor = max(b.floor, b.lowers[0])
	}
	b.rows = append(b.rows, c)
	if len(b.rows) >= b.limit {
		b.compact()
		if len(b.rows) > b.limit/2 {
			b.limit *= 2
		}
	}
}

// compact drops candidates that have fallen below the floor. Beyond maxCandidates it drops the
// lowest, and of ties the last rows: identical vectors have equal bounds, so the rows that rank
// first are kept.
func (b *topK) compact() {
	b.rows = slices.DeleteFunc(b.rows, func(c candidate) bool { return !(c.upper >= b.floor) })
	if len(b.rows) > maxCandidates(b.k) {
		slices.SortFunc(b.rows, func(x, y candidate) int {
			return cmp.Or(cmp.Compare(y.upper, x.upper), cmp.Compare(x.row, y.row))
		})
		b.rows = b.rows[:maxCandidates(b.k)]
	}
}

// mergeTopK merges the candidates that several workers found for one query.
func mergeTopK(bests []*topK) *topK {
	all := newTopK(bests[0].k)
	for _, b := range bests {
		for _, c := range b.rows {
			all.add(c)
		}
	}
	all.compact()
	return all
}

// topHits returns the k best by score; ties are ordered by row.
func topHits(found []candidate, k int) []Hit {
	slices.SortFunc(found, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.row, y.row))
	})
	out := make([]Hit, min(k, len(found)))
	for i := range out {
		out[i] = Hit{Row: found[i].row, Score: found[i].score}
	}
	return out
}

// boundHeap is a min-heap of lower bounds.
type boundHeap []float32

func (l boundHeap) Len() int           { return len(l) }
func (l boundHeap) Less(i, j int) bool { return l[i] < l[j] }
func (l boundHeap) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *boundHeap) Push(x any)        { *l = append(*l, x.(float32)) }
func (l *boundHeap) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// floor is the highest floor of a query that any worker has reached.
type floor struct{ bits atomic.Uint32 }

// orderedBits maps floats to integers of the same order.
func orderedBits(f float32) uint32 {
	b := math.Float32bits(f)
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

func newFloors(queries int) []floor {
	floors := make([]floor, queries)
	for i := range floors {
		floors[i].bits.Store(orderedBits(float32(math.Inf(-1))))
	}
	return floors
}

// exchange raises the shared floor to a worker's, or the worker's to the shared one.
func (f *floor) exchange(b *topK) {
	mine := orderedBits(b.floor)
	for {
		theirs := f.bits.Load()
		if theirs >= mine {
			if theirs>>31 == 1 {
				b.floor = math.Float32frombits(theirs &^ (1 << 31))
			} else {
				b.floor = math.Float32frombits(^theirs)
			}
			return
		}
		if f.bits.CompareAndSwap(theirs, mine) {
			return
		}
	}
}
