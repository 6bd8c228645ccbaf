package bert

// runnable are the kinds of kernels this processor can run.
func runnable() []*kernels {
	if k := best(); k == &avx512 {
		return []*kernels{&portable, k}
	}
	return []*kernels{&portable}
}
