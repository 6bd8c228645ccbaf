//go:build !amd64 && !arm64

package bert

// bestKernels returns the fastest kernels of this processor.
func bestKernels() *kernels { return &portableKernels }
