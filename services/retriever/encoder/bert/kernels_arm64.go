package bert

import "golang.org/x/sys/cpu"

// bestKernels returns the fastest kernels of this processor.
func bestKernels() *kernels {
	if cpu.ARM64.HasASIMDDP {
		return &neon
	}
	return &portableKernels
}

// neon has a fast dot, by the instructions for dot products of bytes; the rest is compiled.
var neon = kernels{
	name: "NEON dot product",
	dot: func(b block) {
		dotNEON(&b.codes[0], b.depth, &b.weights[0], &b.scales[0], &b.middles[0], &b.factors[0], &b.sums[0], &b.bias[0],
			&b.out[0], b.stride)
	},
	quantise:  quantisePortable,
	gelu:      geluPortable,
	normalise: normalisePortable,
	attend:    attendPortable,
}

//go:noescape
func dotNEON(codes *int8, depth int, weights *uint8, scales, middles, factors, sums, bias, out *float32, stride int)
