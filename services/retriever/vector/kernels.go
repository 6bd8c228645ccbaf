package vector

// group is the number of queries that a kernel multiplies at once, blockRows the number of rows:
// one bit of a mask for each.
const (
	group     = 4
	blockRows = 64
)

// kernels are the inner loops for one kind of processor. All compute the same: integers exactly,
// and fp32 up to the order of summation.
type kernels struct {
	name string
	// products multiplies two rows of fp32 by four consecutive queries: out[q] is rowA·query q,
	// out[4+q] is rowB·query q. dims is a multiple of step.
	products func(rowA, rowB, queries *float32, dims int, out *[2 * group]float32)
	step     int
	// dots multiplies n rows of codes, 1 to blockRows, by four consecutive queries of width bytes
	// each, a multiple of 64: out[q][row]. It may change out beyond n.
	dots func(rows *byte, n, width int, queries *int8, out *[group][blockRows]int32)
	// dot is dots for one query; nil if dots is as fast.
	dot func(rows *byte, n, width int, query *int8, out *[blockRows]int32)
	// lookups sums, for each row of a block, the entries of table that its bits select. columns is
	// even.
	lookups func(block *byte, columns int, table *byte, out *[blockRows]int32)
	// above has a bit set for each row with (values[row]+offset) · factors[row] ≥ floor.
	above func(values *[blockRows]int32, factors *[blockRows]float32, offset int32, floor float32) uint64
}

// portableKernels run on every processor.
func portableKernels() kernels {
	return kernels{name: "portable", products: portableProducts, step: 1, dots: portableDots, lookups: portableLookups,
		above: portableAbove}
}

// availableKernels returns the kernels of this processor for vectors of dims components, the
// fastest first.
func availableKernels(dims int) []kernels {
	all := append(nativeKernels(), portableKernels())
	for i := range all {
		if dims%all[i].step != 0 {
			j := i
			for dims%all[j].step != 0 {
				j++
			}
			all[i].products, all[i].step = all[j].products, all[j].step
		}
	}
	return all
}
