package bert

// runnableKernels returns the kernels that this processor can run.
func runnableKernels() []*kernels {
	all := []*kernels{&portableKernels}
	if k := bestKernels(); k == &neon {
		all = append(all, k)
	}
	return all
}
