package scan

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

// Method is the column that a search reads whole.
type Method int

const (
	// Auto chooses by the number of rows and queries.
	Auto Method = iota
	// ByFull compares all rows as they are.
	ByFull
	// ByCodes compares eight bits a component, then the best as they are.
	ByCodes
	// ByBits compares one bit a component, then the best by eight, then the
	// best of those as they are.
	ByBits
)

// Options limit a search. The zero Options take all rows.
type Options struct {
	// Rows are half-open ranges of rows, ascending and apart; nil takes all
	// rows, an empty list none.
	Rows [][2]uint32
	// Passes says whether a row counts. It is asked only about rows that may be
	// among the best, from any number of goroutines. nil lets all pass.
	Passes func(row uint32) bool
	// Method is how to search; a column that is missing is an error, but for
	// Auto.
	Method Method
	// Workers is how many cores take part; 0 takes all.
	Workers int
}

// search is one search under way.
type search struct {
	*Vectors
	passes func(uint32) bool
	plain  [][]float32
	coded  []codedGroup
	bit    []bitQuery
}

// Search returns the k rows nearest to each query, best first, equal scores in
// the order of their rows. Queries have Dims components; their length scales
// the scores. Scores are those of fp32. By codes and by bits a row may be
// missed whose score is about the k-th: with ByCodes fewer than one in a
// thousand, with ByBits than one in two hundred.
func (v *Vectors) Search(ctx context.Context, queries [][]float32, k int, options Options) ([][]Hit, error) {
	if err := v.check(queries); err != nil {
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
	s := &search{Vectors: v, passes: options.Passes, plain: plainGroups(queries, v.dims)}
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
	workers := options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return s.run(ctx, len(queries), k, method, spans, workers)
}

// run scans all spans and scores what may be among the best.
func (s *search) run(ctx context.Context, queries, k int, method Method, spans []span, workers int) ([][]Hit, error) {
	items := batches(spans, itemRows(method, s.dims))
	floors := newFloors(queries)
	found := make([][]*best, queries)
	workers = min(workers, len(items))
	mine := make([][]*best, workers)
	for w := range mine {
		mine[w] = make([]*best, queries)
		for q := range mine[w] {
			mine[w][q] = newBest(k)
			found[q] = append(found[q], mine[w][q])
		}
	}
	if err := each(ctx, workers, len(items), func(w int) func(int) error {
		out := &buffers{}
		return func(item int) error {
			for q, b := range mine[w] {
				floors[q].share(b)
			}
			for _, span := range items[item] {
				if err := s.scan(method, span, out, mine[w]); err != nil {
					return err
				}
			}
			for q, b := range mine[w] {
				floors[q].share(b)
			}
			return nil
		}
	}); err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	result := make([][]Hit, queries)
	if err := each(ctx, min(workers, queries), queries, func(int) func(int) error {
		return func(q int) error {
			rows := merge(found[q]).rows
			if method != ByFull {
				if err := s.rescore(q, rows); err != nil {
					return err
				}
			}
			result[q] = hits(rows, k)
			return nil
		}
	}); err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	return result, nil
}

func (s *search) scan(method Method, rows span, out *buffers, bests []*best) error {
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

// each lets workers take the numbers below n one after another, until there are
// no more, one fails or ctx ends. start makes one worker's function.
func each(ctx context.Context, workers, n int, start func(worker int) func(i int) error) error {
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

// check refuses queries that cannot be compared with the rows.
func (v *Vectors) check(queries [][]float32) error {
	for i, q := range queries {
		if len(q) != v.dims {
			return fmt.Errorf("query %d has %d dimensions, the vectors have %d: %w", i, len(q), v.dims, store.ErrInvalid)
		}
		if length := norm(q); !(length <= math.MaxFloat32) {
			return fmt.Errorf("query %d has a length of %g: %w", i, length, store.ErrInvalid)
		}
	}
	return nil
}
