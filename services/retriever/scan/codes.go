package scan

import (
	"math"
	"math/bits"
	"unsafe"
)

// stride is the length of a row of codes in bytes.
func stride(dims int) int { return (dims + 63) &^ 63 }

// zero is the code of a component that is 0. Codes are unsigned, as the
// processors' instructions want one of two factors to be.
const zero = 128

// encode quantises a vector to codes of 1 to 255 and returns their scale.
func encode(vector []float32, codes []byte) (scale float32) {
	var largest float32
	for _, x := range vector {
		largest = max(largest, x, -x)
	}
	scale = largest / 127
	if scale == 0 {
		scale = 1
	}
	inverse := 1 / scale
	for i, x := range vector {
		// So large a number has no place for fractions: adding it rounds, and the
		// low bits are the whole number.
		codes[i] = byte(zero + math.Float32bits(float32(x*inverse)+1.5*(1<<23)))
	}
	for i := len(vector); i < len(codes); i++ {
		codes[i] = zero
	}
	return scale
}

// deviations is how many standard deviations of the rounding error a bound on
// a product of codes allows for. Errors of row and query are added up, not
// their squares, so that it is more like four.
const deviations = 3

// codedQuery is a query for Codes.
type codedQuery struct {
	// scale is the query's own, zeros the product with a row of zeros.
	scale float32
	zeros int32
	// rowErr and queryErr bound what rounding the row and the query does to the
	// product: rowErr is to be multiplied by both scales.
	rowErr, queryErr float32
}

// codedGroup is up to four queries as the kernel takes them.
type codedGroup struct {
	values  []int8
	queries []codedQuery
}

func newCodedGroup(queries [][]float32) codedGroup {
	width := stride(len(queries[0]))
	g := codedGroup{values: make([]int8, group*width)}
	codes := make([]byte, width)
	// A rounded component is off by an amount evenly distributed over one step,
	// whose deviation is a √12th of it; over all components, the sum's deviation
	// is that times the length of the other vector.
	rounding := deviations / math.Sqrt(12)
	for i, query := range queries {
		q := codedQuery{scale: encode(query, codes)}
		for j, c := range codes {
			value := int32(c) - zero
			g.values[i*width+j] = int8(value)
			q.zeros += zero * value
		}
		q.rowErr = float32(rounding * norm(query) / float64(q.scale))
		q.queryErr = float32(rounding) * q.scale
		g.queries = append(g.queries, q)
	}
	return g
}

// candidate is a row of a scale whose product is value.
func (q codedQuery) candidate(row uint32, value int32, scale float32) candidate {
	unit := scale * q.scale
	return candidate{row: row, score: float32(value-q.zeros) * unit, err: q.rowErr*unit + q.queryErr}
}

// scanCodes offers the rows from…to to each query's best.
func (s *search) scanCodes(from, to uint32, out *buffers, bests []*best) error {
	width := stride(s.dims)
	if err := s.touch(Codes, int64(from)*int64(width), int64(to)*int64(width)); err != nil {
		return err
	}
	if err := s.touch(Scales, int64(from)*4, int64(to)*4); err != nil {
		return err
	}
	for ; from < to; from += blockRows {
		n := int(min(to-from, blockRows))
		scales := s.scales[from : int(from)+n]
		factors := out.sixtyFour(scales)
		for g, coded := range s.coded {
			s.multiply(coded, &s.columns.Codes[int(from)*width], n, width, out)
			for i, q := range coded.queries {
				b := bests[g*group+i]
				margin := int32(min(q.rowErr+1, 1<<30))
				mask := s.kernels.above(&out.dots[i], factors, margin-q.zeros, (b.floor-q.queryErr)/q.scale)
				if n < blockRows {
					mask &= 1<<n - 1
				}
				for ; mask != 0; mask &= mask - 1 {
					row := bits.TrailingZeros64(mask)
					if s.pass(from + uint32(row)) {
						b.add(q.candidate(from+uint32(row), out.dots[i][row], scales[row]))
					}
				}
			}
		}
	}
	return nil
}

// multiply fills out's dots of n rows and a group's queries.
func (s *search) multiply(coded codedGroup, rows *byte, n, width int, out *buffers) {
	if s.kernels.dot != nil && len(coded.queries) == 1 {
		s.kernels.dot(rows, n, width, &coded.values[0], &out.dots[0])
		return
	}
	s.kernels.dots(rows, n, width, &coded.values[0], &out.dots)
}

// code offers one row to a query's best, by its code.
func (s *search) code(row uint32, query int, out *buffers, b *best) error {
	width := int64(stride(s.dims))
	at := int64(row) * width
	if err := s.touch(Codes, at, at+width); err != nil {
		return err
	}
	if err := s.touch(Scales, int64(row)*4, int64(row)*4+4); err != nil {
		return err
	}
	coded := s.coded[query/group]
	s.multiply(coded, &s.columns.Codes[at], 1, int(width), out)
	b.add(coded.queries[query%group].candidate(row, out.dots[query%group][0], s.scales[row]))
	return nil
}

// buffers are what one worker's kernels write to.
type buffers struct {
	dots    [group][blockRows]int32
	sums    [blockRows]int32
	factors [blockRows]float32
}

// sixtyFour returns factors as a kernel wants them, padded to a block's rows.
func (b *buffers) sixtyFour(factors []float32) *[blockRows]float32 {
	if len(factors) == blockRows {
		return (*[blockRows]float32)(unsafe.Pointer(&factors[0]))
	}
	clear(b.factors[copy(b.factors[:], factors):])
	return &b.factors
}
