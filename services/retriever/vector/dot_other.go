//go:build !amd64

package vector

// Dot returns the dot product of two vectors of equal length.
func Dot(a, b []float32) float32 { return portableDot(a, b[:len(a)]) }
