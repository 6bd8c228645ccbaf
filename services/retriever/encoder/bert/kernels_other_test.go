//go:build !amd64

package bert

// runnable are the kinds of kernels this processor can run.
func runnable() []*kernels { return []*kernels{&portable} }
