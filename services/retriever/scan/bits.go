package scan

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// One bit a component, after RaBitQ (Gao and Long, SIGMOD 2024): of a vector
// rotated at random only the signs are kept, and one factor that makes the
// product with them an unbiased estimate of the product with the vector. Its
// error shrinks with the root of the dimensions, whatever the vectors are like.
//
// Products are looked up, after FastScan (André et al., VLDB 2015): the signs
// of four components choose one of 16 sums that were made for the query. The
// sums lie in a register, so that one instruction looks up those of 16 to 64
// rows. This is why rows lie in blocks: a column of a block holds eight signs
// of each of its 64 rows.

// columnsOf is the number of columns of a block: even, since kernels take two
// at once.
func columnsOf(dims int) int { return (dims + 15) / 16 * 2 }

// blockBytes is the size of a block: its columns, then a factor for each row.
func blockBytes(dims int) int { return columnsOf(dims)*blockRows + blockRows*4 }

// place is where a row lies in a column: the rows of the first half at even
// places, so that kernels tell the halves apart by the two bytes of a word.
func place(row int) int { return row%(blockRows/2)*2 + row/(blockRows/2) }

// encodeBits puts a rotated vector into a row of a block that was empty.
func encodeBits(rotated []float32, row int, block []byte) {
	at := place(row)
	var sum, squares float64
	for i, x := range rotated {
		positive := byte(math.Float32bits(x)>>31 ^ 1)
		block[i/8*blockRows+at] |= positive << (i % 8)
		sum += math.Abs(float64(x))
		squares += float64(x) * float64(x)
	}
	factors := unsafe.Slice((*float32)(unsafe.Pointer(&block[len(block)-blockRows*4])), blockRows)
	factors[row] = float32(squares / sum)
}

const (
	// bitDeviations is how many standard deviations of its error an estimate
	// may be too low before a row is lost. At 2.2, one in 70 of those just at
	// the floor is, and hardly any above.
	bitDeviations = 2.2
	// spread is the deviation of an estimate relative to the row's factor, for a
	// query of length 1: √(1-α²), where α is the cosine between a vector and its
	// signs. It is √(2/π) for rotated vectors, give or take; this is a little
	// more.
	spread = 0.62
)

// bitQuery is a query for Bits.
type bitQuery struct {
	// table holds the 16 sums for each four components, as steps above the
	// least of them.
	table []byte
	// step is the size of a step; offset is what to add to a sum of steps,
	// margin more for an upper bound, both in steps.
	step           float32
	offset, margin int32
}

func newBitQuery(query []float32, r rotation) bitQuery {
	dims := len(query)
	columns := columnsOf(dims)
	rotated := make([]float32, columns*8)
	copy(rotated, query)
	r.apply(rotated[:dims])
	var least, widest float64
	for four := range slices.Chunk(rotated, 4) {
		var sum float64
		for _, x := range four {
			sum += math.Abs(float64(x))
		}
		least -= sum
		widest = max(widest, 2*sum)
	}
	// Four entries are added up in a byte, all of a row in two bytes.
	lookups := columns * 2
	most := float64(min(63, 65535/lookups))
	step := widest / most
	if step == 0 {
		step = 1
	}
	q := bitQuery{table: make([]byte, 0, lookups*16), step: float32(step)}
	for four := range slices.Chunk(rotated, 4) {
		// With no sign positive, the negative components give the most they can;
		// each further positive sign adds twice its component.
		var sums [16]float64
		for _, x := range four {
			sums[0] += math.Abs(float64(x)) - float64(x)
		}
		for signs := 1; signs < 16; signs++ {
			sums[signs] = sums[signs&(signs-1)] + 2*float64(four[bits.TrailingZeros(uint(signs))])
		}
		for _, sum := range sums {
			q.table = append(q.table, byte(max(0, min(sum/step+0.5, most))))
		}
	}
	q.offset = int32(math.Round(least / step))
	// The error of the estimate, and that of rounding to steps.
	deviation := spread * norm(query) / step
	rounding := math.Sqrt(float64(lookups) / 12)
	q.margin = int32(math.Ceil(bitDeviations * math.Hypot(deviation, rounding)))
	return q
}

// scanBits offers the rows from…to to each query's best, by the codes of those
// whose bits say that they may be among the best.
func (s *search) scanBits(from, to uint32, out *buffers, bests []*best) error {
	columns, size := columnsOf(s.dims), blockBytes(s.dims)
	first, last := int(from)/blockRows, (int(to)-1)/blockRows
	if err := s.touch(Bits, int64(first)*int64(size), int64(last+1)*int64(size)); err != nil {
		return err
	}
	for query, q := range s.bit {
		b := bests[query]
		for at := first; at <= last; at++ {
			block := s.columns.Bits[at*size : (at+1)*size]
			factors := (*[blockRows]float32)(unsafe.Pointer(&block[columns*blockRows]))
			s.kernels.lookups(&block[0], columns, &q.table[0], &out.sums)
			mask := s.kernels.above(&out.sums, factors, q.offset+q.margin, b.floor/q.step)
			if mask == 0 {
				continue
			}
			mask &= within(at*blockRows, from, to)
			for ; mask != 0; mask &= mask - 1 {
				i := bits.TrailingZeros64(mask)
				row := uint32(at*blockRows + i)
				// The floor may have risen since.
				if float32(out.sums[i]+q.offset+q.margin)*factors[i]*q.step < b.floor || !s.pass(row) {
					continue
				}
				if err := s.code(row, query, out, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// within has a bit for each row of the block from start on that lies in
// from…to.
func within(start int, from, to uint32) uint64 {
	mask := ^uint64(0)
	if int(from) > start {
		mask <<= int(from) - start
	}
	if n := int(to) - start; n < blockRows {
		mask &= 1<<n - 1
	}
	return mask
}
