package embedded

import (
	"math"
	"slices"
)

// candidate is a row and its score.
type candidate struct {
	row   uint32
	score float32
}

// better orders candidates: higher score first, then lower row.
func better(a, b candidate) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	case a.row < b.row:
		return -1
	case a.row > b.row:
		return 1
	}
	return 0
}

// top keeps the best k candidates of those that are added in the order of
// their rows. It fills to twice k and then cuts, so that a good row costs an
// append and not a search.
type top struct {
	k     int
	kept  []candidate
	floor float32 // a score must be above this to be among the best k
}

func newTops(n, k int) []top {
	tops := make([]top, n)
	for i := range tops {
		tops[i] = top{k: k, kept: make([]candidate, 0, 2*k), floor: float32(math.Inf(-1))}
	}
	return tops
}

// add takes a candidate whose score is above the floor. Rows come in ascending
// order, so one that equals the floor ranks behind those that set it.
func (t *top) add(c candidate) {
	t.kept = append(t.kept, c)
	if len(t.kept) == 2*t.k {
		t.cut()
	}
}

func (t *top) cut() {
	slices.SortFunc(t.kept, better)
	t.kept = t.kept[:min(t.k, len(t.kept))]
	if len(t.kept) == t.k {
		t.floor = t.kept[t.k-1].score
	}
}

// merge joins what the workers found: result[query] holds the best k.
func merge(workers [][]top, k int) [][]candidate {
	result := make([][]candidate, len(workers[0]))
	for q := range result {
		var all []candidate
		for _, tops := range workers {
			all = append(all, tops[q].kept...)
		}
		slices.SortFunc(all, better)
		result[q] = all[:min(k, len(all))]
	}
	return result
}
