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

func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{0, 1, 3, 4, 9, 384, 1537} {
		a, b := vector(r, dims), vector(r, dims)
		var want float64
		for i := range a {
			want += float64(a[i]) * float64(b[i])
		}
		if got := Product(a, b); math.Abs(float64(got)-want) > 1e-5*math.Sqrt(float64(dims)) {
			t.Errorf("%d dims: got %v, want %v", dims, got, want)
		}
	}
}

func TestProductRefusesAShorterSecondVector(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a vector was read past its end")
		}
	}()
	Product(make([]float32, 16), make([]float32, 8, 16)[:8:8])
}

func BenchmarkProduct(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	x, y := vector(r, 384), vector(r, 384)
	b.SetBytes(2 * 384 * 4)
	for b.Loop() {
		Product(x, y)
	}
}
