package vector

import (
	"cmp"
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
// Products are looked up, after FastScan (André et al., VLDB 2015): the signs of four components
// choose one of 16 sums that were made for the query. The sums lie in a register, so that one
// instruction looks up those of 16 to 64 rows. This is why rows lie in blocks: a column of a block
// holds eight signs of each of its 64 rows.

// bitColumns is the number of columns of a block: even, because kernels read two at once.
func bitColumns(dims int) int { return (dims + 15) / 16 * 2 }

// blockBytes is the size of a block: its columns, then a factor for each row.
func blockBytes(dims int) int { return bitColumns(dims)*blockRows + blockRows*4 }

// rowPosition is the position of a row in a column: the rows of the first half are at even
// positions, so that kernels separate the halves by the two bytes of a word.
func rowPosition(row int) int { return row%(blockRows/2)*2 + row/(blockRows/2) }

// encodeBits writes a rotated vector into an empty row of a block.
func encodeBits(rotated []float32, row int, block []byte) {
	at := rowPosition(row)
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
	// bitDeviations is the number of standard deviations by which an estimate may be too low before
	// a row is lost. At 2.2, one in 70 rows just at the floor is lost, and hardly any above it.
	bitDeviations = 2.2
	// estimateDeviation is the deviation of an estimate relative to the row's factor, for a query
	// of length 1: √(1-α²), where α is the cosine between a vector and its signs. It is about
	// √(2/π) for rotated vectors; this is slightly more.
	estimateDeviation = 0.62
)

// bitQuery is a query for Bits.
type bitQuery struct {
	// table holds the 16 sums for each four components, as steps above the lowest of them.
	table []byte
	// step is the size of a step. offset is added to a sum of steps, margin on top for an upper
	// bound, both in steps.
	step           float32
	offset, margin int32
}

func newBitQuery(query []float32, r rotation) bitQuery {
	dims := len(query)
	columns := bitColumns(dims)
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
	// A byte sums four entries, two bytes a whole row.
	lookups := columns * 2
	most := float64(min(63, 65535/lookups))
	step := cmp.Or(widest/most, 1)
	q := bitQuery{table: make([]byte, 0, lookups*16), step: float32(step)}
	for four := range slices.Chunk(rotated, 4) {
		// Without a positive sign the negative components give the maximum; each further positive
		// sign adds twice its component.
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
	// The error of the estimate and of rounding to steps.
	deviation := estimateDeviation * norm(query) / step
	rounding := math.Sqrt(float64(lookups) / 12)
	q.margin = int32(math.Ceil(bitDeviations * math.Hypot(deviation, rounding)))
	return q
}

// scanBits offers the rows from…to to each query's top k, by the codes of those whose bits say that
// they may be among the best.
func (s *search) scanBits(from, to uint32, out *buffers, bests []*topK) error {
	columns, size := bitColumns(s.dims), blockBytes(s.dims)
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
			mask &= rangeMask(at*blockRows, from, to)
			for ; mask != 0; mask &= mask - 1 {
				i := bits.TrailingZeros64(mask)
				row := uint32(at*blockRows + i)
				upper := float32(out.sums[i]+q.offset+q.margin) * factors[i] * q.step
				// The floor may have risen since.
				if upper < b.floor || !s.pass(row) {
					continue
				}
				if err := s.offerCode(row, upper, query, out, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// rangeMask has a bit for each row of the block at start that lies in from…to.
func rangeMask(start int, from, to uint32) uint64 {
	mask := ^uint64(0)
	if int(from) > start {
		mask <<= int(from) - start
	}
	if n := int(to) - start; n < blockRows {
		mask &= 1<<n - 1
	}
	return mask
}

// rounds is the number of rounds of sign flips and mixing. Four spread a vector with a single
// component evenly over all components.
const rounds = 4

// rotation is a fixed orthogonal map that looks random: it turns any vector into one whose
// components are alike in size, which is what one bit a component needs. Each round flips signs at
// random, applies a fast Hadamard transform to as many components as a power of two covers, by
// turns the first and the last ones, and mixes the two halves of all. This takes n log n steps; a
// dense random matrix, which is what RaBitQ's paper describes, takes n².
//
// The signs are part of the format of the column: they must never change.
type rotation struct {
	signs  [rounds][]float32
	window int
}

func newRotation(dims int) rotation {
	r := rotation{window: 1}
	for r.window*2 <= dims {
		r.window *= 2
	}
	size := float32(1 / math.Sqrt(float64(r.window)))
	state := uint64(0x7472_6970_6c65_6d65)
	for round := range r.signs {
		r.signs[round] = make([]float32, dims)
		from, to := r.span(round, dims)
		for i := range r.signs[round] {
			sign := float32(1)
			if splitMix(&state)>>63 == 1 {
				sign = -1
			}
			if from <= i && i < to {
				sign *= size
			}
			r.signs[round][i] = sign
		}
	}
	return r
}

// span returns the components that a round mixes.
func (r rotation) span(round, dims int) (from, to int) {
	if round%2 == 0 {
		return 0, r.window
	}
	return dims - r.window, dims
}

// apply rotates a vector in place.
func (r rotation) apply(vector []float32) {
	for round, signs := range r.signs {
		for i, s := range signs {
			vector[i] *= s
		}
		from, to := r.span(round, len(vector))
		hadamard(vector[from:to])
		half := len(vector) / 2
		a, b := vector[:half], vector[half:2*half]
		for i := range a {
			a[i], b[i] = (a[i]+b[i])*halfRoot, (a[i]-b[i])*halfRoot
		}
	}
}

const halfRoot = 1 / math.Sqrt2

// hadamard applies the Hadamard transform, not scaled, to a power of two of components.
func hadamard(x []float32) {
	for half := 1; half < len(x); half *= 2 {
		for from := 0; from < len(x); from += 2 * half {
			a, b := x[from:from+half], x[from+half:from+2*half]
			for i := range a {
				a[i], b[i] = a[i]+b[i], a[i]-b[i]
			}
		}
	}
}

// splitMix is the SplitMix64 generator (Steele et al., OOPSLA 2014): here
// rather than in a library, because its numbers are part of a file format.
func splitMix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
