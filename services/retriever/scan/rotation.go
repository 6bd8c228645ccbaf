package scan

import "math"

// rounds is how often a rotation flips signs and mixes. Four leave a vector
// with a single component spread evenly over all of them.
const rounds = 4

// rotation is a fixed orthogonal map that looks random: it turns any vector
// into one whose components are alike in size, which is what one bit a
// component needs. Each round flips signs at random, applies a fast Hadamard
// transform to as many components as a power of two covers, by turns the first
// and the last ones, and mixes the two halves of all. This takes n log n steps;
// a dense random matrix, which is what RaBitQ's paper describes, takes n².
//
// The signs are part of the format of the column: they must never change.
type rotation struct {
	signs  [rounds][]float32
	window int
}

func newRotation(dims int) rotation {
	r := rotation{window: 1}
	for r.window*2 <= dims {
		r.window *= 2
	}
	size := float32(1 / math.Sqrt(float64(r.window)))
	state := uint64(0x7472_6970_6c65_6d65)
	for round := range r.signs {
		r.signs[round] = make([]float32, dims)
		from, to := r.span(round, dims)
		for i := range r.signs[round] {
			sign := float32(1)
			if splitMix(&state)>>63 == 1 {
				sign = -1
			}
			if from <= i && i < to {
				sign *= size
			}
			r.signs[round][i] = sign
		}
	}
	return r
}

// span returns the components that a round mixes.
func (r rotation) span(round, dims int) (from, to int) {
	if round%2 == 0 {
		return 0, r.window
	}
	return dims - r.window, dims
}

// apply rotates a vector in place.
func (r rotation) apply(vector []float32) {
	for round, signs := range r.signs {
		for i, s := range signs {
			vector[i] *= s
		}
		from, to := r.span(round, len(vector))
		hadamard(vector[from:to])
		half := len(vector) / 2
		a, b := vector[:half], vector[half:2*half]
		for i := range a {
			a[i], b[i] = (a[i]+b[i])*halfRoot, (a[i]-b[i])*halfRoot
		}
	}
}

const halfRoot = 1 / math.Sqrt2

// hadamard applies the Hadamard transform, not scaled, to a power of two of
// components.
func hadamard(x []float32) {
	for half := 1; half < len(x); half *= 2 {
		for from := 0; from < len(x); from += 2 * half {
			a, b := x[from:from+half], x[from+half:from+2*half]
			for i := range a {
				a[i], b[i] = a[i]+b[i], a[i]-b[i]
			}
		}
	}
}

// splitMix is the SplitMix64 generator (Steele et al., OOPSLA 2014): here
// rather than in a library, because its numbers are part of a file format.
func splitMix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
