package scan

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"sync/atomic"
)

// candidate is a row that may be among the best: its score lies, as far as its
// column can tell, within err of score.
type candidate struct {
	row        uint32
	score, err float32
}

func (c candidate) upper() float32 { return c.score + c.err }

// best collects one query's candidates. The k-th best lower bound is the floor:
// a row whose upper bound is below cannot be among the k best.
type best struct {
	k      int
	floor  float32
	lowers lowers
	rows   []candidate
	limit  int
}

// most is the number of candidates that are kept whatever the bounds say, for
// graphs in which most vectors are alike.
func most(k int) int { return 4096 + 16*k }

func newBest(k int) *best {
	return &best{k: k, floor: float32(math.Inf(-1)), limit: 64 + 4*k}
}

// add offers a row.
func (b *best) add(c candidate) {
	if !(c.upper() >= b.floor) {
		return
	}
	lower := c.score - c.err
	switch {
	case len(b.lowers) < b.k:
		heap.Push(&b.lowers, lower)
	case lower > b.lowers[0]:
		b.lowers[0] = lower
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

// compact drops what has fallen below the floor. Beyond most, it drops the
// least, and of equals the last rows: identical vectors have equal bounds, so
// those stay that rank first.
func (b *best) compact() {
	b.rows = slices.DeleteFunc(b.rows, func(c candidate) bool { return !(c.upper() >= b.floor) })
	if len(b.rows) > most(b.k) {
		slices.SortFunc(b.rows, func(x, y candidate) int {
			return cmp.Or(cmp.Compare(y.upper(), x.upper()), cmp.Compare(x.row, y.row))
		})
		b.rows = b.rows[:most(b.k)]
	}
}

// merge joins what several workers found for one query.
func merge(bests []*best) *best {
	all := newBest(bests[0].k)
	for _, b := range bests {
		for _, c := range b.rows {
			all.add(c)
		}
	}
	all.compact()
	return all
}

// hits returns the k best by score, equal ones in the order of their rows.
func hits(found []candidate, k int) []Hit {
	slices.SortFunc(found, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.row, y.row))
	})
	out := make([]Hit, min(k, len(found)))
	for i := range out {
		out[i] = Hit{Row: found[i].row, Score: found[i].score}
	}
	return out
}

// lowers is a heap of lower bounds, the least first.
type lowers []float32

func (l lowers) Len() int           { return len(l) }
func (l lowers) Less(i, j int) bool { return l[i] < l[j] }
func (l lowers) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *lowers) Push(x any)        { *l = append(*l, x.(float32)) }
func (l *lowers) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// floor is the highest floor that any worker has reached for a query.
type floor struct{ bits atomic.Uint32 }

// ordered maps floats to numbers of the same order.
func ordered(f float32) uint32 {
	b := math.Float32bits(f)
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

func newFloors(queries int) []floor {
	floors := make([]floor, queries)
	for i := range floors {
		floors[i].bits.Store(ordered(float32(math.Inf(-1))))
	}
	return floors
}

// share gives a worker's floor to the others, and theirs to it.
func (f *floor) share(b *best) {
	mine := ordered(b.floor)
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
