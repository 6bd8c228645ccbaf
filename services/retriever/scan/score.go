package scan

import (
	"context"
	"fmt"
	"runtime"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// scoreRows is how many rows a worker scores at a time.
const scoreRows = 256

// Score returns the cosine of each query to each of some rows: result[q][i].
// They equal those of Search to the last bit.
func (v *Vectors) Score(ctx context.Context, queries [][]float32, rows []uint32) ([][]float32, error) {
	if err := v.check(queries); err != nil {
		return nil, fmt.Errorf("score vectors: %w", err)
	}
	for _, row := range rows {
		if int(row) >= v.rows {
			return nil, fmt.Errorf("score row %d of %d vectors: %w", row, v.rows, store.ErrInvalid)
		}
	}
	scores := make([][]float32, len(queries))
	for q := range scores {
		scores[q] = make([]float32, len(rows))
	}
	plain := plainGroups(queries, v.dims)
	items := (len(rows) + scoreRows - 1) / scoreRows
	err := each(ctx, min(runtime.GOMAXPROCS(0), items), items, func(int) func(int) error {
		return func(item int) error {
			return v.scoreItem(plain, rows, item*scoreRows, scores)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("score vectors: %w", err)
	}
	return scores, ctx.Err()
}

// scoreItem scores scoreRows rows from the from-th on.
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
