package vector

import "golang.org/x/sys/cpu"

// nativeKernels returns the kernels written for this processor, the fastest first.
func nativeKernels() []kernels {
	neon := kernels{name: "neon", products: productsNEON, step: 4, dots: portableDots, lookups: lookupsNEON,
		above: aboveNEON}
	if cpu.ARM64.HasASIMDDP {
		dot := neon
		dot.name, dot.dots = "neon dot product", dotsNEON
		return []kernels{dot, neon}
	}
	return []kernels{neon}
}

//go:noescape
func productsNEON(rowA, rowB, queries *float32, dims int, out *[2 * group]float32)

//go:noescape
func dotsNEON(rows *byte, n, width int, queries *int8, out *[group][blockRows]int32)

//go:noescape
func lookupsNEON(block *byte, columns int, table *byte, out *[blockRows]int32)

//go:noescape
func aboveNEON(values *[blockRows]int32, factors *[blockRows]float32, offset int32, floor float32) uint64
