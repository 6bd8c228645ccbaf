package bert

import "golang.org/x/sys/cpu"

// runnable are the kinds of kernels this processor can run.
func runnable() []*kernels {
	all := []*kernels{&portable}
	if cpu.X86.HasAVX2 {
		all = append(all, &avx2)
	}
	if k := best(); k == &avx512 {
		all = append(all, k)
	}
	return all
}
