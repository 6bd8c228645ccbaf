package dot

import "golang.org/x/sys/cpu"

// kernel returns the fastest kernel this processor has for vectors of dims
// components, nil where there is none.
func kernel(dims int) func(rowA, rowB, queries *float32, dims int, out *[2 * Queries]float32) {
	switch {
	case dims == 0:
		return nil
	case cpu.X86.HasAVX512F && dims%16 == 0:
		return kernel512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA && dims%8 == 0:
		return kernel256
	}
	return nil
}

// kernel256 multiplies two rows by four queries that follow one another, dims
// components each, a multiple of 8.
//
//go:noescape
func kernel256(rowA, rowB, queries *float32, dims int, out *[2 * Queries]float32)

// kernel512 is kernel256 in steps of 16.
//
//go:noescape
func kernel512(rowA, rowB, queries *float32, dims int, out *[2 * Queries]float32)
