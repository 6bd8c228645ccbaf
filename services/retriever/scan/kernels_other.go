//go:build !amd64 && !arm64

package scan

// native has nothing for this processor.
func native() []kernels { return nil }
