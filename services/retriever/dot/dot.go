// Package dot multiplies vectors: the inner loop of exact search.
package dot

// Queries is how many queries one kernel call takes.
const Queries = 4

// Block is a group of up to four query vectors, laid out for the kernel.
type Block struct {
	dims   int
	values []float32
	kernel func(rowA, rowB, queries *float32, dims int, out *[2 * Queries]float32)
}

// NewBlock lays out one to four queries of equal length; missing ones are
// zero.
func NewBlock(queries [][]float32) Block {
	dims := len(queries[0])
	b := Block{dims: dims, values: make([]float32, Queries*dims), kernel: kernel(dims)}
	for i, q := range queries {
		copy(b.values[i*dims:], q)
	}
	return b
}

// Products multiplies two rows, each as long as the queries, by the block:
// out[q] is a·query q, out[4+q] is b·query q. For one row alone pass it twice.
func (b Block) Products(rowA, rowB []float32, out *[2 * Queries]float32) {
	rowA, rowB = rowA[:b.dims], rowB[:b.dims]
	if b.kernel != nil {
		b.kernel(&rowA[0], &rowB[0], &b.values[0], b.dims, out)
		return
	}
	portable(rowA, rowB, b.values, out)
}

// Product multiplies two vectors of equal length.
func Product(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s2) + (s1 + s3)
}

func portable(rowA, rowB, queries []float32, out *[2 * Queries]float32) {
	dims := len(rowA)
	for q := range Queries {
		query := queries[q*dims : (q+1)*dims]
		out[q] = Product(rowA, query)
		out[Queries+q] = Product(rowB, query)
	}
}
