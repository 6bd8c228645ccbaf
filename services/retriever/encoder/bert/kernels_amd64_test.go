package bert

import "golang.org/x/sys/cpu"

// runnableKernels returns the kernels that this processor can run.
func runnableKernels() []*kernels {
	all := []*kernels{&portableKernels}
	if cpu.X86.HasAVX2 {
		all = append(all, &avx2)
	}
	if k := bestKernels(); k == &avx512 {
		all = append(all, k)
	}
	return all
}
