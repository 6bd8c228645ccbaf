package embedded

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// scanRows is how many rows a core takes at a time: half a megabyte of 384
// dimensions, so that cores finish together and notice a cancelled context.
const scanRows = 256

// SearchTriples implements store.Searcher.
func (s *snapshot) SearchTriples(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error) {
	best, err := s.scan(ctx, s.vectors, queries, k, s.passes(filter))
	if err != nil {
		return nil, s.wrap("search", err)
	}
	hits := make([][]store.Hit, len(best))
	for q, top := range best {
		hits[q] = make([]store.Hit, len(top))
		for i, c := range top {
			hits[q][i] = store.Hit{Triple: store.TripleID(c.row), Score: c.score}
		}
	}
	return hits, nil
}

// passes is a filter over rows.
func (s *snapshot) passes(filter store.Filter) func(uint32) bool {
	passes := filter.Passes(s)
	if passes == nil {
		return nil
	}
	return func(row uint32) bool { return passes(store.TripleID(row)) }
}

// SearchRelations implements store.Searcher.
func (s *snapshot) SearchRelations(ctx context.Context, queries [][]float32, k int) ([][]store.RelationHit, error) {
	best, err := s.scan(ctx, s.relationVectors, queries, k, nil)
	if err != nil {
		return nil, s.wrap("search relations of", err)
	}
	hits := make([][]store.RelationHit, len(best))
	for q, top := range best {
		hits[q] = make([]store.RelationHit, len(top))
		for i, c := range top {
			hits[q][i] = store.RelationHit{Relation: store.RelationID(c.row), Score: c.score}
		}
	}
	return hits, nil
}

// RelationVector implements store.Searcher.
func (s *snapshot) RelationVector(id store.RelationID) []float32 {
	from, to := int(id)*s.info.Dims, (int(id)+1)*s.info.Dims
	return s.relationVectors[from:to:to]
}

// ScoreTriples implements store.Searcher.
func (s *snapshot) ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error) {
	blocks, err := s.blocks(queries)
	if err != nil {
		return nil, s.wrap("score triples of", err)
	}
	scores := make([][]float32, len(queries))
	for q := range scores {
		scores[q] = make([]float32, len(triples))
	}
	err = guard(func() error {
		var out [2 * dot.Queries]float32
		for t := 0; t < len(triples); t += 2 {
			if err := ctx.Err(); err != nil {
				return err
			}
			last := min(t+1, len(triples)-1)
			a, b := s.row(s.vectors, int(triples[t])), s.row(s.vectors, int(triples[last]))
			for g, block := range blocks {
				block.Products(a, b, &out)
				for q := g * dot.Queries; q < min((g+1)*dot.Queries, len(queries)); q++ {
					scores[q][t] = out[q-g*dot.Queries]
					scores[q][last] = out[dot.Queries+q-g*dot.Queries]
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("score triples of", err)
	}
	return scores, nil
}

func (s *snapshot) row(vectors []float32, i int) []float32 {
	return vectors[i*s.info.Dims : (i+1)*s.info.Dims]
}

// blocks groups queries as the kernel takes them.
func (s *snapshot) blocks(queries [][]float32) ([]dot.Block, error) {
	for i, q := range queries {
		if len(q) != s.info.Dims {
			return nil, fmt.Errorf("query %d has %d dimensions, the snapshot's encoder %s makes %d: %w", i, len(q), s.info.Encoder, s.info.Dims, store.ErrInvalid)
		}
	}
	var blocks []dot.Block
	for from := 0; from < len(queries); from += dot.Queries {
		blocks = append(blocks, dot.NewBlock(queries[from:min(from+dot.Queries, len(queries))]))
	}
	return blocks, nil
}

// scan compares every row with every query in one pass and returns the k best
// rows per query.
func (s *snapshot) scan(ctx context.Context, vectors []float32, queries [][]float32, k int, passes func(uint32) bool) ([][]candidate, error) {
	blocks, err := s.blocks(queries)
	if err != nil {
		return nil, err
	}
	rows := len(vectors) / s.info.Dims
	k = min(k, rows)
	if k <= 0 || len(queries) == 0 {
		return make([][]candidate, len(queries)), ctx.Err()
	}
	workers := min(runtime.GOMAXPROCS(0), (rows+scanRows-1)/scanRows)
	tops := make([][]top, workers)
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		tops[w] = newTops(len(queries), k)
		group.Go(func() error {
			return guard(func() error {
				for {
					from := int(next.Add(scanRows)) - scanRows
					if from >= rows {
						return nil
					}
					if err := ctx.Err(); err != nil {
						return err
					}
					s.scanBlock(vectors, from, min(from+scanRows, rows), blocks, tops[w], passes)
				}
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return merge(tops, k), nil
}

// scanBlock offers the rows from…to to each query's best.
func (s *snapshot) scanBlock(vectors []float32, from, to int, blocks []dot.Block, best []top, passes func(uint32) bool) {
	var out [2 * dot.Queries]float32
	for r := from; r < to; r += 2 {
		last := min(r+1, to-1)
		a, b := s.row(vectors, r), s.row(vectors, last)
		for g, block := range blocks {
			block.Products(a, b, &out)
			for i, q := 0, g*dot.Queries; i < dot.Queries && q < len(best); i, q = i+1, q+1 {
				if out[i] > best[q].floor && (passes == nil || passes(uint32(r))) {
					best[q].add(candidate{uint32(r), out[i]})
				}
				if last > r && out[dot.Queries+i] > best[q].floor && (passes == nil || passes(uint32(last))) {
					best[q].add(candidate{uint32(last), out[dot.Queries+i]})
				}
			}
		}
	}
}
