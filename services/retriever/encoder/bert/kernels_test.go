package bert

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// newRandom returns the same sequence in every run.
func newRandom() *rand.Rand { return rand.New(rand.NewPCG(3, 5)) }

func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * 2)
	}
	return x
}

// checkClose compares numbers with a tolerance relative to the largest.
func checkClose(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	var largest float64
	for _, x := range want {
		largest = max(largest, math.Abs(float64(x)))
	}
	for i := range want {
		if !(math.Abs(float64(got[i]-want[i])) <= tolerance*largest) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// checkEqual compares numbers bit by bit.
func checkEqual(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: number %d is %v, the portable kernels give %v", what, i, got[i], want[i])
		}
	}
}

// eachKernels runs a test with all kernels that this processor can run.
func eachKernels(t *testing.T, test func(*testing.T, *kernels)) {
	for _, k := range runnableKernels() {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

func TestDotIsExact(t *testing.T) {
	for _, depth := range []int{4, 384, 1536} {
		r := newRandom()
		codes, weights := make([]int8, blockRows*depth), make([]uint8, blockColumns*depth)
		for i := range codes {
			codes[i] = int8(r.IntN(255) - 127)
		}
		for i := range weights {
			weights[i] = uint8(1 + r.IntN(255))
		}
		// The extremes coincide somewhere.
		for i := range depth {
			codes[i] = 127
		}
		for i := range weights {
			if i/4%blockColumns == 5 {
				weights[i] = 255
			}
		}
		scales, middles := normal(r, blockRows), normal(r, blockRows)
		factors, sums, bias := normal(r, blockColumns), normal(r, blockColumns), normal(r, blockColumns)
		corrections := make([]int32, blockRows)
		for row := range corrections {
			for _, c := range codes[row*depth : (row+1)*depth] {
				corrections[row] -= 128 * int32(c)
			}
		}
		const stride = 80
		want := slices.Repeat([]float32{7}, blockRows*stride)
		for row := range blockRows {
			for column := range blockColumns {
				sum := 0
				for k := range depth {
					w := int(weights[(k/4*blockColumns+column)*4+k%4]) - 128
					sum += w * int(codes[row*depth+k])
				}
				want[row*stride+column] = float32(
					sum)*scales[row]*factors[column] + bias[column] + middles[row]*sums[column]
			}
		}
		eachKernels(t, func(t *testing.T, k *kernels) {
			got := slices.Repeat([]float32{7}, blockRows*stride)
			k.dot(block{codes, weights, scales, middles, corrections, factors, sums, bias, got, depth, stride})
			checkClose(t, "product", got, want, 1e-6)
			portably := slices.Repeat([]float32{7}, blockRows*stride)
			dotPortable(block{codes, weights, scales, middles, corrections, factors, sums, bias, portably,
				depth, stride})
			checkEqual(t, "product", got, portably)
			for row := range blockRows {
				if !slices.Equal(got[row*stride+blockColumns:(row+1)*stride],
					want[row*stride+blockColumns:(row+1)*stride]) {
					t.Error("it wrote beyond its columns")
				}
			}
		})
	}
}

func TestQuantise(t *testing.T) {
	r := newRandom()
	spread := normal(r, 384)
	spread[100] = -300
	for name, x := range map[string][]float32{
		"numbers of one kind":  normal(r, 1536),
		"one stands out":       spread,
		"all are nothing":      make([]float32, 384),
		"very small":           slices.Repeat([]float32{1e-30, -1e-31}, 192),
		"ties go to even ones": slices.Repeat([]float32{127, 0.5, 1.5, -2.5}, 96),
	} {
		t.Run(name, func(t *testing.T) {
			want := make([]int8, len(x))
			shares := slices.Repeat([]float32{1}, len(x))
			shares[100] = 0.25
			wantScale, wantMiddle, wantSum := quantisePortable(x, shares, want)
			for i, v := range x {
				if i != 100 && math.Abs(float64(v-wantMiddle-wantScale*float32(want[i]))) > 0.501*float64(wantScale) {
					t.Fatalf("%v became %d times %v", v, want[i], wantScale)
				}
			}
			eachKernels(t, func(t *testing.T, k *kernels) {
				got := make([]int8, len(x))
				scale, middle, sum := k.quantise(x, shares, got)
				if !slices.Equal(got, want) || scale != wantScale || middle != wantMiddle || sum != wantSum {
					t.Errorf("scale %v, middle %v, sum %d, want %v, %v, %d; codes as wanted: %v", scale, middle, sum,
						wantScale, wantMiddle, wantSum, slices.Equal(got, want))
				}
			})
		})
	}
}

func TestGelu(t *testing.T) {
	var x, want []float32
	for i := range 1600 {
		v := float64(i-800) / 100
		x = append(x, float32(v))
		want = append(want, float32(v/2*(1+math.Erf(v/math.Sqrt2))))
	}
	eachKernels(t, func(t *testing.T, k *kernels) {
		got := slices.Clone(x)
		k.gelu(got)
		for i := range got {
			if math.Abs(float64(got[i]-want[i])) > 3e-6 {
				t.Fatalf("gelu(%v) is %v, want %v", x[i], got[i], want[i])
			}
		}
		portably := slices.Clone(x)
		geluPortable(portably)
		checkEqual(t, "gelu", got, portably)
	})
}

func TestNormalise(t *testing.T) {
	r := newRandom()
	x, residual, gain, bias := normal(r, width), normal(r, width), normal(r, width), normal(r, width)
	for i := range x {
		x[i] += 20
	}
	var mean, variance float64
	for i := range x {
		mean += float64(x[i]+residual[i]) / width
	}
	for i := range x {
		variance += math.Pow(float64(x[i]+residual[i])-mean, 2) / width
	}
	want := make([]float32, width)
	for i := range x {
		want[i] = float32((float64(x[i]+residual[i])-mean)/math.Sqrt(variance+1e-12))*gain[i] + bias[i]
	}
	eachKernels(t, func(t *testing.T, k *kernels) {
		got := slices.Clone(x)
		k.normalise(got, residual, gain, bias)
		checkClose(t, "normalised", got, want, 1e-5)
		portably := slices.Clone(x)
		normalisePortable(portably, residual, gain, bias)
		checkEqual(t, "normalised", got, portably)
		equal := make([]float32, width)
		k.normalise(equal, make([]float32, width), gain, bias)
		checkClose(t, "all equal", equal, bias, 1e-5)
	})
}

func TestAttend(t *testing.T) {
	r := newRandom()
	for _, tokens := range []int{1, 2, 15, 16, 17, 31, 64, 100, 256} {
		const wide, outWide = 3 * width, 40
		all := normal(r, tokens*wide)
		want := slices.Repeat([]float32{7}, tokens*outWide)
		h := head{q: all[64:], k: all[64+width:], v: all[64+2*width:], width: wide, outWidth: outWide, tokens: tokens}
		for i := range tokens {
			weights := make([]float64, tokens)
			var sum float64
			for j := range weights {
				for d := range headDims {
					weights[j] += float64(h.q[i*wide+d]) * float64(h.k[j*wide+d])
				}
				weights[j] = math.Exp(weights[j] - 200)
				sum += weights[j]
			}
			for d := range headDims {
				var x float64
				for j, w := range weights {
					x += w / sum * float64(h.v[j*wide+d])
				}
				want[i*outWide+d] = float32(x)
			}
		}
		eachKernels(t, func(t *testing.T, k *kernels) {
			h := h
			h.out = slices.Repeat([]float32{7}, tokens*outWide)
			h.scratch = normal(r, scratchFor(tokens)+16)
			beyond := slices.Clone(h.scratch[scratchFor(tokens):])
			k.attend(h)
			checkClose(t, "attention", h.out, want, 1e-4)
			portably := h
			portably.out = slices.Repeat([]float32{7}, tokens*outWide)
			portably.scratch = make([]float32, scratchFor(tokens))
			attendPortable(portably)
			checkEqual(t, "attention", h.out, portably.out)
			if !slices.Equal(h.scratch[scratchFor(tokens):], beyond) {
				t.Error("it wrote beyond its scratch")
			}
		})
	}
}
