package vector

import "golang.org/x/sys/cpu"

// Dot returns the dot product of two vectors of equal length.
func Dot(a, b []float32) float32 {
	b = b[:len(a)]
	n := 0
	var sum float32
	if len(a) >= 32 && cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		n = len(a) &^ 31
		sum = dot256(&a[0], &b[0], n)
	}
	return sum + portableDot(a[n:], b[n:])
}

//go:noescape
func dot256(a, b *float32, dims int) float32
