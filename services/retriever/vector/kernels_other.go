//go:build !amd64 && !arm64

package vector

func nativeKernels() []kernels { return nil }
