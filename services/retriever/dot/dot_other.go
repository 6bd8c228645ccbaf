//go:build !amd64

package dot

// kernel returns nil: this processor has no kernel yet.
func kernel(int) func(rowA, rowB, queries *float32, dims int, out *[2 * Queries]float32) {
	return nil
}
