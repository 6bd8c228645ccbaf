package embedded

import (
	"context"
	"io"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded/pages"
)

// vectors are those of a layer's triples.
type vectors struct {
	file *pages.File
	dims int
}

func (v *viewer) vectors(n, dims int) *vectors {
	return &vectors{file: v.floats(vectorsFile, n, dims), dims: dims}
}

// vectorWriter writes vectors.
type vectorWriter struct{ out *output }

func (b *build) vectorWriter(int) (*vectorWriter, error) {
	out, err := b.create(vectorsFile)
	return &vectorWriter{out}, err
}

func (w *vectorWriter) add(v []float32) error {
	_, err := w.out.Write(asBytes(v))
	return err
}

func (w *vectorWriter) close() error { return w.out.close() }

var _ io.Writer = (*output)(nil)

// row is the vector of a triple. It stands within store.Guard.
func (v *vectors) row(i int) []float32 {
	return floats(v.file.Bytes(i*v.dims*4, (i+1)*v.dims*4))
}

// scanRows is how many rows a core takes at a time: half a megabyte of 384
// dimensions, so that cores finish together and notice a cancelled context.
const scanRows = 256

// search returns the k best rows per query, of those within ranges and that
// pass; nil takes all.
func (v *vectors) search(ctx context.Context, queries [][]float32, k int, ranges [][2]uint32, passes func(uint32) bool) ([][]candidate, error) {
	if ranges != nil {
		inner := passes
		passes = func(row uint32) bool {
			i, ok := slices.BinarySearchFunc(ranges, row, func(r [2]uint32, row uint32) int { return int(int64(r[0]) - int64(row)) })
			if !ok {
				i--
			}
			return i >= 0 && row < ranges[i][1] && (inner == nil || inner(row))
		}
	}
	var blocks []dot.Block
	for from := 0; from < len(queries); from += dot.Queries {
		blocks = append(blocks, dot.NewBlock(queries[from:min(from+dot.Queries, len(queries))]))
	}
	rows := v.file.Len() / 4 / v.dims
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
			return store.Guard(func() error {
				for {
					from := int(next.Add(scanRows)) - scanRows
					if from >= rows {
						return nil
					}
					if err := ctx.Err(); err != nil {
						return err
					}
					v.scanBlock(from, min(from+scanRows, rows), blocks, tops[w], passes)
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
func (v *vectors) scanBlock(from, to int, blocks []dot.Block, best []top, passes func(uint32) bool) {
	var out [2 * dot.Queries]float32
	for r := from; r < to; r += 2 {
		last := min(r+1, to-1)
		a, b := v.row(r), v.row(last)
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

// score returns the cosine of each query to each row: result[q][row].
func (v *vectors) score(ctx context.Context, queries [][]float32, rows []uint32) ([][]float32, error) {
	scores := make([][]float32, len(queries))
	return scores, store.Guard(func() error {
		for q := range queries {
			scores[q] = make([]float32, len(rows))
			for i, r := range rows {
				if i%256 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				scores[q][i] = dot.Product(v.row(int(r)), queries[q])
			}
		}
		return ctx.Err()
	})
}
