package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{0, 1, 3, 4, 9, 31, 32, 33, 384, 1537} {
		a, b := randomVector(r, dims), randomVector(r, dims)
		var want float64
		for i := range a {
			want += float64(a[i]) * float64(b[i])
		}
		if got := Dot(a, b); math.Abs(float64(got)-want) > 1e-5*math.Sqrt(float64(dims)) {
			t.Errorf("%d dims: got %v, want %v", dims, got, want)
		}
	}
}

func TestDotRefusesAShorterSecondVector(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a vector was read past its end")
		}
	}()
	Dot(make([]float32, 16), make([]float32, 8, 16)[:8:8])
}

func BenchmarkDotOfTwo(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	x, y := randomVector(r, 384), randomVector(r, 384)
	b.SetBytes(2 * 384 * 4)
	for b.Loop() {
		Dot(x, y)
	}
}
