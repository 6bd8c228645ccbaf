package dot

import (
	"math"
	"math/rand/v2"
	"testing"
)

func vector(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = r.Float32()*2 - 1
	}
	return v
}

func exact(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{1, 3, 8, 9, 16, 40, 384, 1536, 1537} {
		for n := 1; n <= Queries; n++ {
			queries := make([][]float32, n)
			for i := range queries {
				queries[i] = vector(r, dims)
			}
			rows := [2][]float32{vector(r, dims), vector(r, dims)}
			var out, plain [2 * Queries]float32
			block := NewBlock(queries)
			block.Products(rows[0], rows[1], &out)
			portable(rows[0], rows[1], block.values, &plain)
			for i, row := range rows {
				for q := range Queries {
					want := 0.0
					if q < n {
						want = exact(row, queries[q])
					}
					for _, got := range []float32{out[i*Queries+q], plain[i*Queries+q]} {
						if math.Abs(float64(got)-want) > 1e-5*math.Sqrt(float64(dims)) {
							t.Errorf("%d dims, row %d, query %d of %d: got %v, want %v", dims, i, q, n, got, want)
						}
					}
				}
			}
		}
	}
}

func TestARowScoresAlikeInEitherPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	block := NewBlock([][]float32{vector(r, 384), vector(r, 384)})
	a, b := vector(r, 384), vector(r, 384)
	var ab, ba [2 * Queries]float32
	block.Products(a, b, &ab)
	block.Products(b, a, &ba)
	for q := range Queries {
		if ab[q] != ba[Queries+q] || ab[Queries+q] != ba[q] {
			t.Errorf("query %d: %v and %v change with their place", q, ab, ba)
		}
	}
}

func TestProductsRefusesShortRows(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a row shorter than the queries was read past its end")
		}
	}()
	var out [2 * Queries]float32
	NewBlock([][]float32{make([]float32, 16)}).Products(make([]float32, 8), make([]float32, 16), &out)
}

func BenchmarkProducts(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	block := NewBlock([][]float32{vector(r, 384), vector(r, 384), vector(r, 384), vector(r, 384)})
	rowA, rowB := vector(r, 384), vector(r, 384)
	var out [2 * Queries]float32
	b.SetBytes(2 * 384 * 4)
	for b.Loop() {
		block.Products(rowA, rowB, &out)
	}
}
