//go:build !amd64

package bert

// best are the fastest kernels this processor has.
func best() *kernels { return &portable }
