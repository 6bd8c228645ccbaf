package vector

import (
	"unsafe"
)

func portableProducts(rowA, rowB, queries *float32, dims int, out *[2 * group]float32) {
	a, b := unsafe.Slice(rowA, dims), unsafe.Slice(rowB, dims)
	all := unsafe.Slice(queries, group*dims)
	for q := range group {
		query := all[q*dims : (q+1)*dims]
		out[q], out[group+q] = portableDot(a, query), portableDot(b, query)
	}
}

func portableDots(rows *byte, n, width int, queries *int8, out *[group][blockRows]int32) {
	all := unsafe.Slice(rows, n*width)
	four := unsafe.Slice(queries, group*width)
	q0, q1, q2, q3 := four[:width], four[width:2*width], four[2*width:3*width], four[3*width:]
	for r := range n {
		var s0, s1, s2, s3 int32
		for i, x := range all[r*width : (r+1)*width] {
			s0 += int32(x) * int32(q0[i])
			s1 += int32(x) * int32(q1[i])
			s2 += int32(x) * int32(q2[i])
			s3 += int32(x) * int32(q3[i])
		}
		out[0][r], out[1][r], out[2][r], out[3][r] = s0, s1, s2, s3
	}
}

func portableLookups(block *byte, columns int, table *byte, out *[blockRows]int32) {
	bits := unsafe.Slice(block, columns*blockRows)
	entries := unsafe.Slice(table, columns*2*16)
	var sums [blockRows]int32
	for c := range columns {
		low, high := (*[16]byte)(entries[c*32:]), (*[16]byte)(entries[c*32+16:])
		for i, b := range (*[blockRows]byte)(bits[c*blockRows:]) {
			sums[i] += int32(low[b&15]) + int32(high[b>>4])
		}
	}
	for i, sum := range sums {
		out[i/2+i%2*blockRows/2] = sum
	}
}

func portableAbove(values *[blockRows]int32, factors *[blockRows]float32, offset int32, floor float32) uint64 {
	var mask uint64
	for i, v := range values {
		if float32(v+offset)*factors[i] >= floor {
			mask |= 1 << i
		}
	}
	return mask
}

// portableDot is Dot for every processor.
func portableDot(a, b []float32) float32 {
	b = b[:len(a)] // checked once
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s2) + (s1 + s3)
}
