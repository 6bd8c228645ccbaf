package vector

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestAnySearchAgreesWithBruteForce searches few vectors of few numbers, so that
// scores are exact and many are equal, with any filter, on every kernel:
// by full the hits are those of brute force to the row; by codes and by bits
// those that it gives are right, in order, and the same with any workers; and
// of all hits of all searches no more are missed than is promised.
func TestAnySearchAgreesWithBruteForce(t *testing.T) {
	missed, wanted := map[Method]int{}, map[Method]int{}
	rapid.Check(t, func(r *rapid.T) {
		dims := rapid.SampledFrom([]int{1, 3, 16, 64, 65, 130}).Draw(r, "dims")
		number := rapid.Map(rapid.IntRange(-2, 2), func(i int) float32 { return float32(i) })
		vector := rapid.SliceOfN(number, dims, dims).Filter(func(v []float32) bool { return norm(v) > 0 })
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) []float32 { return drawRow(r, dims) }), 1,
			150).Draw(r, "rows")
		queries := rapid.SliceOfN(vector, 1, 9).Draw(r, "queries")
		k := rapid.IntRange(1, 12).Draw(r, "k")
		options := drawOptions(r, len(rows))
		passes := func(row uint32) bool {
			return (options.Passes == nil || options.Passes(row)) && (options.Rows == nil ||
				slices.ContainsFunc(options.Rows, func(in [2]uint32) bool { return in[0] <= row && row < in[1] }))
		}
		columns := writeColumns(t, dims, rows)
		v := openColumns(t, dims, columns, rapid.SampledFrom(availableKernels(dims)).Draw(r, "kernels"))
		for method := range minRecall {
			options.Method = method
			got, err := v.Search(r.Context(), queries, k, options)
			if err != nil {
				r.Fatal(err)
			}
			options.Workers = 3 - options.Workers
			if again, err := v.Search(r.Context(), queries, k, options); err != nil || !slices.EqualFunc(got, again,
				slices.Equal) {
				r.Fatalf("method %d gives %v, with other workers %v, %v", method, got, again, err)
			}
			for q, query := range queries {
				want := bruteForce(rows, query, k, passes)
				if method == ByFull && !slices.Equal(got[q], want) || len(got[q]) != len(want) {
					r.Fatalf("method %d gives %v, want %v", method, got[q], want)
				}
				for i, hit := range got[q] {
					if !passes(hit.Row) || hit != bruteForce(rows[hit.Row:hit.Row+1], query, 1,
						nil)[0].withRow(hit.Row) {
						r.Fatalf("method %d: hit %d is %v", method, i, hit)
					}
					if i > 0 && !(got[q][i-1].Score > hit.Score || got[q][i-1].Score == hit.Score &&
						got[q][i-1].Row < hit.Row) {
						r.Fatalf("method %d: %v is out of order", method, got[q])
					}
					if hit.Score < want[len(want)-1].Score {
						missed[method]++
					}
				}
				wanted[method] += len(want)
			}
		}
	})
	for method, least := range minRecall {
		if share := 1 - float64(missed[method])/math.Max(1, float64(wanted[method])); share < least {
			t.Errorf("method %d finds %v of the best, want %v", method, share, least)
		}
	}
	t.Logf("%v hits wanted, %v missed", wanted, missed)
}

func (h Hit) withRow(row uint32) Hit { h.Row = row; return h }

// drawRow draws a vector of length 1: one component of 1, or four of a half.
func drawRow(r *rapid.T, dims int) []float32 {
	row := make([]float32, dims)
	places := rapid.SliceOfNDistinct(rapid.IntRange(0, dims-1), min(dims, 4), min(dims, 4), rapid.ID).Draw(r, "places")
	if dims < 4 {
		places = places[:1]
	}
	for _, at := range places {
		row[at] = 1 / float32(math.Sqrt(float64(len(places))))
		if rapid.Bool().Draw(r, "negative") {
			row[at] = -row[at]
		}
	}
	return row
}

func drawOptions(r *rapid.T, rows int) (o Options) {
	if rapid.Bool().Draw(r, "ranges") {
		o.Rows = [][2]uint32{}
		for at := 0; at < rows; {
			from := rapid.IntRange(at, rows).Draw(r, "from")
			to := rapid.IntRange(from, rows).Draw(r, "to")
			if from < to {
				o.Rows = append(o.Rows, [2]uint32{uint32(from), uint32(to)})
			}
			at = to + 1
		}
	}
	if rapid.Bool().Draw(r, "filter") {
		every := uint32(rapid.IntRange(1, 5).Draw(r, "every"))
		o.Passes = func(row uint32) bool { return row%every == 0 }
	}
	o.Workers = rapid.IntRange(1, 2).Draw(r, "workers")
	return o
}
