package bert

import "golang.org/x/sys/cpu"

// bestKernels returns the fastest kernels of this processor.
func bestKernels() *kernels {
	x := cpu.X86
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI {
		return &avx512
	}
	if x.HasAVX2 {
		return &avx2
	}
	return &portableKernels
}

// avx2 has a fast dot; the rest is compiled.
var avx2 = kernels{
	name: "AVX2",
	dot: func(b block) {
		dot256(&b.codes[0], b.depth, &b.weights[0], &b.scales[0], &b.middles[0], &b.factors[0], &b.sums[0], &b.bias[0],
			&b.out[0], b.stride)
	},
	quantise:  quantisePortable,
	gelu:      geluPortable,
	normalise: normalisePortable,
	attend:    attendPortable,
}

var avx512 = kernels{
	name: "AVX-512 VNNI",
	dot: func(b block) {
		dot512(&b.codes[0], b.depth, &b.weights[0], &b.scales[0], &b.middles[0], &b.corrections[0], &b.factors[0],
			&b.sums[0], &b.bias[0], &b.out[0], b.stride)
	},
	quantise: func(x, shares []float32, codes []int8) (scale, middle float32, sum int32) {
		return quantise512(&x[0], &shares[0], len(x), &codes[0])
	},
	gelu: func(x []float32) { gelu512(&x[0], len(x), &geluTail[0]) },
	normalise: func(x, residual, gain, bias []float32) {
		normalise512(&x[0], &residual[0], &gain[0], &bias[0], len(x))
	},
	attend: func(h head) {
		attend512(&h.q[0], &h.k[0], &h.v[0], h.width, h.tokens, &exp2Coefficients[0], &h.scratch[0],
			&h.out[0], h.outWidth)
	},
}

//go:noescape
func dot256(codes *int8, depth int, weights *uint8, scales, middles, factors, sums, bias, out *float32, stride int)

//go:noescape
func dot512(codes *int8, depth int, weights *uint8, scales, middles *float32, corrections *int32, factors, sums, bias,
	out *float32, stride int)

//go:noescape
func quantise512(x, shares *float32, n int, codes *int8) (scale, middle float32, sum int32)

//go:noescape
func gelu512(x *float32, n int, tail *float32)

//go:noescape
func normalise512(x, residual, gain, bias *float32, n int)

//go:noescape
func attend512(q, k, v *float32, width, tokens int, power, scratch, out *float32, outWidth int)
