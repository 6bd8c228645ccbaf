package vector

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Method is the column that a search reads in full.
type Method int

const (
	// Auto depends on the number of rows and queries.
	Auto Method = iota
	// ByFull compares all rows exactly.
	ByFull
	// ByCodes compares eight bits per component, then the best exactly.
	ByCodes
	// ByBits compares one bit per component, then the best by eight, then the best of those
	// exactly.
	ByBits
)

// Options limit a search. The zero Options include all rows.
type Options struct {
	// Rows are half-open ranges of rows, ascending and disjoint; nil means all rows, an empty list
	// none.
	Rows [][2]uint32
	// Passes reports whether a row counts. It is called only for rows that may be among the best,
	// from any number of goroutines. nil accepts all.
	Passes func(row uint32) bool
	// Method is the search method. A missing column is an error unless the method is Auto.
	Method Method
	// Workers is the number of cores to use; 0 means all.
	Workers int
}

// search is the state of one search.
type search struct {
	*Vectors
	passes func(uint32) bool
	plain  [][]float32
	coded  []codedGroup
	bit    []bitQuery
}

// Search returns the k rows nearest to each query, best first, ties ordered by row. Queries have
// Dims components; their length scales the scores. Scores are those of fp32. ByCodes and ByBits may
// miss a row whose score is about the k-th: fewer than one in a thousand and one in two hundred.
func (v *Vectors) Search(ctx context.Context, queries [][]float32, k int, options Options) ([][]Hit, error) {
	if err := v.checkQueries(queries); err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	spans, rows, err := v.spans(options.Rows)
	if err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	k = min(k, rows)
	if k <= 0 || len(queries) == 0 {
		return make([][]Hit, len(queries)), ctx.Err()
	}
	method, err := v.method(options.Method, rows, len(spans))
	if err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	workers := options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	s := v.newSearch(queries, method, options.Passes)
	return s.run(ctx, len(queries), k, method, spans, workers)
}

func (v *Vectors) newSearch(queries [][]float32, method Method, passes func(uint32) bool) *search {
	s := &search{Vectors: v, passes: passes, plain: plainGroups(queries, v.dims)}
	if method != ByFull {
		for four := range slices.Chunk(queries, group) {
			s.coded = append(s.coded, newCodedGroup(four))
		}
	}
	if method == ByBits {
		for _, q := range queries {
			s.bit = append(s.bit, newBitQuery(q, v.rotation))
		}
	}
	return s
}

// run scans all spans and scores the candidates.
func (s *search) run(ctx context.Context, queries, k int, method Method, spans []span, workers int) ([][]Hit, error) {
	items := batches(spans, itemRows(method, s.dims))
	floors := newFloors(queries)
	found := make([][]*topK, queries)
	workers = min(workers, len(items))
	mine := make([][]*topK, workers)
	for w := range mine {
		mine[w] = make([]*topK, queries)
		for q := range mine[w] {
			mine[w][q] = newTopK(k)
			found[q] = append(found[q], mine[w][q])
		}
	}
	if err := runWorkers(ctx, workers, len(items), func(w int) func(int) error {
		out := &buffers{}
		return func(item int) error {
			for q, b := range mine[w] {
				floors[q].exchange(b)
			}
			for _, span := range items[item] {
				if err := s.scan(method, span, out, mine[w]); err != nil {
					return err
				}
			}
			for q, b := range mine[w] {
				floors[q].exchange(b)
			}
			return nil
		}
	}); err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	result := make([][]Hit, queries)
	if err := runWorkers(ctx, min(workers, queries), queries, func(int) func(int) error {
		return func(q int) error {
			rows := mergeTopK(found[q]).rows
			if method != ByFull {
				if err := s.rescore(q, rows); err != nil {
					return err
				}
			}
			result[q] = topHits(rows, k)
			return nil
		}
	}); err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	return result, nil
}

func (s *search) scan(method Method, rows span, out *buffers, bests []*topK) error {
	switch method {
	case ByFull:
		return s.scanFull(rows.from, rows.to, bests)
	case ByCodes:
		return s.scanCodes(rows.from, rows.to, out, bests)
	default:
		return s.scanBits(rows.from, rows.to, out, bests)
	}
}

func (s *search) pass(row uint32) bool { return s.passes == nil || s.passes(row) }

// runWorkers lets workers process the numbers below n until all are done, one fails or ctx is done.
// start returns one worker's function.
func runWorkers(ctx context.Context, workers, n int, start func(worker int) func(i int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error {
			return store.Guard(func() error {
				do := start(w)
				for {
					i := int(next.Add(1)) - 1
					if i >= n {
						return nil
					}
					if err := ctx.Err(); err != nil {
						return err
					}
					if err := do(i); err != nil {
						return err
					}
				}
			})
		})
	}
	return group.Wait()
}

// checkQueries rejects queries that cannot be compared with the rows.
func (v *Vectors) checkQueries(queries [][]float32) error {
	for i, q := range queries {
		if len(q) != v.dims {
			return store.Invalidf("query %d has %d dimensions, the vectors have %d", i, len(q), v.dims)
		}
		if length := norm(q); !(length <= math.MaxFloat32) {
			return store.Invalidf("query %d has a length of %g", i, length)
		}
	}
	return nil
}

// scoreRows is the number of rows that a worker scores at a time.
const scoreRows = 256

// Score returns the cosine of each query to each of the rows: result[q][i]. They equal those of
// Search to the last bit.
func (v *Vectors) Score(ctx context.Context, queries [][]float32, rows []uint32) ([][]float32, error) {
	if err := v.checkQueries(queries); err != nil {
		return nil, fmt.Errorf("score vectors: %w", err)
	}
	for _, row := range rows {
		if int(row) >= v.rows {
			return nil, store.Invalidf("score row %d of %d vectors", row, v.rows)
		}
	}
	scores := make([][]float32, len(queries))
	for q := range scores {
		scores[q] = make([]float32, len(rows))
	}
	plain := plainGroups(queries, v.dims)
	items := (len(rows) + scoreRows - 1) / scoreRows
	err := runWorkers(ctx, min(runtime.GOMAXPROCS(0), items), items, func(int) func(int) error {
		return func(item int) error {
			return v.scoreItem(plain, rows, item*scoreRows, scores)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("score vectors: %w", err)
	}
	return scores, ctx.Err()
}

// scoreItem scores scoreRows rows starting at from.
func (v *Vectors) scoreItem(plain [][]float32, rows []uint32, from int, scores [][]float32) error {
	var out [2 * group]float32
	size := int64(v.dims) * 4
	to := min(from+scoreRows, len(rows))
	for i := from; i < to; i += 2 {
		next := min(i+1, to-1)
		for _, row := range rows[i : next+1] {
			if err := v.touch(Full, int64(row)*size, int64(row+1)*size); err != nil {
				return err
			}
		}
		for g, queries := range plain {
			v.kernels.products(&v.row(rows[i])[0], &v.row(rows[next])[0], &queries[0], v.dims, &out)
			for q := g * group; q < min((g+1)*group, len(scores)); q++ {
				scores[q][i], scores[q][next] = out[q-g*group], out[group+q-g*group]
			}
		}
	}
	return nil
}

// span is a half-open range of rows.
type span struct{ from, to uint32 }

// spans checks ranges of rows and counts their rows.
func (v *Vectors) spans(ranges [][2]uint32) (spans []span, rows int, err error) {
	if ranges == nil {
		return []span{{0, uint32(v.rows)}}, v.rows, nil
	}
	end := uint32(0)
	for i, r := range ranges {
		if r[0] < end || r[1] < r[0] || int64(r[1]) > int64(v.rows) {
			return nil, 0, store.Invalidf("range %d is rows %d to %d; want ascending ranges apart from one another "+
				"within %d rows", i, r[0], r[1], v.rows)
		}
		if r[0] < r[1] {
			spans = append(spans, span{r[0], r[1]})
			rows += int(r[1] - r[0])
		}
		end = r[1]
	}
	return spans, rows, nil
}

// itemRows is the number of rows that a worker takes at a time: about a quarter of a megabyte,
// which stays in a core's L2 cache while all queries scan it, so that workers finish together and
// notice a cancellation soon.
func itemRows(method Method, dims int) uint32 {
	size := 4 * dims
	switch method {
	case ByCodes:
		size = codeStride(dims)
	case ByBits:
		size = blockBytes(dims) / blockRows
	}
	return uint32(max(1<<18/size/blockRows, 1) * blockRows)
}

// batches splits spans at multiples of size and joins small ones, so that each batch has about size
// rows.
func batches(spans []span, size uint32) [][]span {
	var all [][]span
	var batch []span
	var rows uint32
	for _, s := range spans {
		for s.from < s.to {
			cut := s
			if end := (uint64(s.from)/uint64(size) + 1) * uint64(size); end < uint64(s.to) {
				cut.to = uint32(end)
			}
			batch = append(batch, cut)
			rows += cut.to - cut.from
			s.from = cut.to
			if rows >= size {
				all, batch, rows = append(all, batch), nil, 0
			}
		}
	}
	if batch != nil {
		all = append(all, batch)
	}
	return all
}

const (
	// fullRows is the number of rows up to which they are compared exactly: a coarser column saves
	// nothing.
	fullRows = 128
	// bitRows is the number of rows from which bits are compared first, if a range has bitRange
	// rows on average: blocks of bits are read in full.
	bitRows  = 16384
	bitRange = 512
)

// method selects the search method.
func (v *Vectors) method(wanted Method, rows, ranges int) (Method, error) {
	coded, bits := v.columns.Codes != nil, v.columns.Bits != nil
	switch {
	case wanted == Auto && (!coded || rows <= fullRows):
		return ByFull, nil
	case wanted == Auto && bits && rows >= bitRows && rows/ranges >= bitRange:
		return ByBits, nil
	case wanted == Auto:
		return ByCodes, nil
	case wanted == ByCodes && !coded, wanted == ByBits && !bits, wanted < Auto, wanted > ByBits:
		return 0, store.Invalidf("method %d has no column to read; write the vectors with it or leave the choice open",
			wanted)
	}
	return wanted, nil
}
