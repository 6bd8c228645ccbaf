//go:build !amd64 && !arm64

package bert

// runnableKernels returns the kernels that this processor can run.
func runnableKernels() []*kernels { return []*kernels{&portableKernels} }
