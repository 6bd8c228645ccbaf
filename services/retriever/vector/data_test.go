package vector

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// unit scales a vector to length 1.
func unit(v []float32) []float32 {
	scale := float32(1 / norm(v))
	for i := range v {
		v[i] *= scale
	}
	return v
}

// nearbyVector returns a unit vector near another; noise is the length of the difference.
func nearbyVector(r *rand.Rand, v []float32, noise float64) []float32 {
	out := slices.Clone(v)
	for i, x := range unit(randomVector(r, len(v))) {
		out[i] += float32(noise) * x
	}
	return unit(out)
}

// facts returns vectors like those of a knowledge graph: themes, subjects within a theme,
// consecutive facts near their subject, some of them equal.
func facts(r *rand.Rand, rows, dims int) [][]float32 {
	themes := make([][]float32, 20)
	for i := range themes {
		themes[i] = unit(randomVector(r, dims))
	}
	out := make([][]float32, 0, rows)
	for len(out) < rows {
		subject := nearbyVector(r, themes[r.IntN(len(themes))], 1)
		for range min(1+r.IntN(16), rows-len(out)) {
			fact := nearbyVector(r, subject, 0.7)
			if len(out) > 0 && r.IntN(10) == 0 {
				fact = slices.Clone(out[r.IntN(len(out))])
			}
			out = append(out, fact)
		}
	}
	return out
}

// questions returns queries near some of the rows.
func questions(r *rand.Rand, rows [][]float32, n int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = nearbyVector(r, rows[r.IntN(len(rows))], 1)
	}
	return out
}

// writeColumns writes rows and returns their columns.
func writeColumns(t testing.TB, dims int, rows [][]float32) Columns {
	t.Helper()
	var full, codes, scales, bits bytes.Buffer
	w := NewWriter(dims, Files{&full, &codes, &scales, &bits})
	for _, row := range rows {
		if err := w.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return Columns{Full: full.Bytes(), Codes: codes.Bytes(), Scales: scales.Bytes(), Bits: bits.Bytes()}
}

// openColumns opens columns with a kernel.
func openColumns(t testing.TB, dims int, columns Columns, k kernels) *Vectors {
	t.Helper()
	v, err := Open(dims, columns)
	if err != nil {
		t.Fatal(err)
	}
	v.kernels = k
	return v
}

// bruteForce ranks all rows in double precision.
func bruteForce(rows [][]float32, query []float32, k int, passes func(uint32) bool) []Hit {
	var found []candidate
	for i, row := range rows {
		if passes != nil && !passes(uint32(i)) {
			continue
		}
		var sum float64
		for j := range row {
			sum += float64(row[j]) * float64(query[j])
		}
		found = append(found, candidate{row: uint32(i), score: float32(sum)})
	}
	return topHits(found, k)
}

// expectedHits returns the hits of brute force for each query.
func expectedHits(rows, queries [][]float32, k int) [][]Hit {
	want := make([][]Hit, len(queries))
	for q, query := range queries {
		want[q] = bruteForce(rows, query, k, nil)
	}
	return want
}

// recall is the share of hits that are at least as good as the last of want: of ties any will do.
func recall(t testing.TB, v *Vectors, rows, queries [][]float32, want [][]Hit, options Options) float64 {
	t.Helper()
	got, err := v.Search(context.Background(), queries, len(want[0]), options)
	if err != nil {
		t.Fatal(err)
	}
	good, all := 0, 0
	for q := range queries {
		if len(got[q]) != len(want[q]) {
			t.Fatalf("query %d has %d hits, want %d", q, len(got[q]), len(want[q]))
		}
		for i, hit := range got[q] {
			all++
			if float64(hit.Score) >= float64(want[q][len(want[q])-1].Score)-1e-6 {
				good++
			}
			if i > 0 && (got[q][i-1].Score < hit.Score || got[q][i-1].Score == hit.Score &&
				got[q][i-1].Row >= hit.Row) {
				t.Fatalf("query %d: hit %d, %+v, comes after %+v", q, i, hit, got[q][i-1])
			}
			exact := bruteForce(rows[hit.Row:hit.Row+1], queries[q], 1, nil)[0].Score
			if math.Abs(float64(hit.Score-exact)) > 1e-5 {
				t.Fatalf("query %d, row %d: score %v, want %v", q, hit.Row, hit.Score, exact)
			}
		}
	}
	return float64(good) / float64(all)
}
