package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestARotationKeepsProducts(t *testing.T) {
	for _, dims := range []int{1, 2, 3, 100, 384, 768, 1536} {
		r := rand.New(rand.NewPCG(7, uint64(dims)))
		a, b := unit(randomVector(r, dims)), unit(randomVector(r, dims))
		want := Dot(a, b)
		rotation := newRotation(dims)
		rotation.apply(a)
		rotation.apply(b)
		if got := Dot(a, b); math.Abs(float64(got-want)) > 1e-5 {
			t.Errorf("%d dims: got %v, want %v", dims, got, want)
		}
		if got := norm(a); math.Abs(got-1) > 1e-5 {
			t.Errorf("%d dims: length is %v", dims, got)
		}
	}
}

// The worst vector for one bit per component has a single component.
func TestARotationSpreadsEveryVector(t *testing.T) {
	for _, dims := range []int{384, 768, 1000, 1536} {
		rotation := newRotation(dims)
		for i := 0; i < dims; i += 7 {
			v := make([]float32, dims)
			v[i] = 1
			rotation.apply(v)
			var sum float64
			for _, x := range v {
				sum += math.Abs(float64(x))
			}
			// The cosine between the vector and its signs; √(2/π) is 0.798.
			if alpha := sum / math.Sqrt(float64(dims)); alpha < 0.7 {
				t.Errorf("%d dims, component %d: %v", dims, i, alpha)
			}
		}
	}
}

// The signs are part of the format of the column of bits.
func TestTheRotationNeverChanges(t *testing.T) {
	v := make([]float32, 100)
	v[0], v[60] = 0.6, 0.8
	newRotation(100).apply(v)
	var got uint64
	for i := range 64 {
		if v[i] > 0 {
			got |= 1 << i
		}
	}
	if want := uint64(0x853cd2f791429372); got != want {
		t.Errorf("signs are %#x, want %#x", got, want)
	}
}
