package vector

import "golang.org/x/sys/cpu"

// nativeKernels returns the kernels written for this processor, the fastest first.
func nativeKernels() []kernels {
	var all []kernels
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI {
		all = append(all, kernels{name: "avx512", products: products512, step: 16, dots: dots512, dot: dot512,
			lookups: lookups512, above: above512})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, kernels{name: "avx2", products: products256, step: 8, dots: dots256, lookups: lookups256,
			above: above256})
	}
	return all
}

//go:noescape
func products512(rowA, rowB, queries *float32, dims int, out *[2 * group]float32)

//go:noescape
func products256(rowA, rowB, queries *float32, dims int, out *[2 * group]float32)

//go:noescape
func dots512(rows *byte, n, width int, queries *int8, out *[group][blockRows]int32)

//go:noescape
func dot512(rows *byte, n, width int, query *int8, out *[blockRows]int32)

//go:noescape
func dots256(rows *byte, n, width int, queries *int8, out *[group][blockRows]int32)

//go:noescape
func lookups512(block *byte, columns int, table *byte, out *[blockRows]int32)

//go:noescape
func lookups256(block *byte, columns int, table *byte, out *[blockRows]int32)

//go:noescape
func above512(values *[blockRows]int32, factors *[blockRows]float32, offset int32, floor float32) uint64

//go:noescape
func above256(values *[blockRows]int32, factors *[blockRows]float32, offset int32, floor float32) uint64
