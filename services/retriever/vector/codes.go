package vector

import (
	"cmp"
	"math"
	"math/bits"
	"unsafe"
)

// codeStride is the length of a row of codes in bytes.
func codeStride(dims int) int { return (dims + 63) &^ 63 }

// zeroCode is the code of a component that is 0. Codes are unsigned, because the processors'
// instructions require one unsigned factor.
const zeroCode = 128

// quantise encodes a vector in codes of 1 to 255 and returns their scale.
func quantise(vector []float32, codes []byte) (scale float32) {
	var largest float32
	for _, x := range vector {
		largest = max(largest, x, -x)
	}
	scale = largest / 127
	scale = cmp.Or(scale, 1)
	inverse := 1 / scale
	for i, x := range vector {
		// So large a number has no bits for fractions: adding it rounds, and the low bits are the
		// integer.
		codes[i] = byte(zeroCode + math.Float32bits(float32(x*inverse)+1.5*(1<<23)))
	}
	for i := len(vector); i < len(codes); i++ {
		codes[i] = zeroCode
	}
	return scale
}

// codeDeviations is the number of standard deviations of the rounding error that a bound on a
// product of codes allows for. Errors of row and query are added, not their squares, so that it is
// more like four.
const codeDeviations = 3

// codedQuery is a query for Codes.
type codedQuery struct {
	// scale is the query's own, zeros the product with a row of zeros.
	scale float32
	zeros int32
	// rowErr and queryErr bound the effect of rounding the row and the query on the product; rowErr
	// is to be multiplied by both scales.
	rowErr, queryErr float32
}

// codedGroup is up to four queries in the kernel's layout.
type codedGroup struct {
	values  []int8
	queries []codedQuery
}

func newCodedGroup(queries [][]float32) codedGroup {
	width := codeStride(len(queries[0]))
	g := codedGroup{values: make([]int8, group*width)}
	codes := make([]byte, width)
	// The rounding error of a component is evenly distributed over one step, with a deviation of a
	// √12th of it; the deviation of the sum over all components is that times the length of the
	// other vector.
	rounding := codeDeviations / math.Sqrt(12)
	for i, query := range queries {
		q := codedQuery{scale: quantise(query, codes)}
		for j, c := range codes {
			value := int32(c) - zeroCode
			g.values[i*width+j] = int8(value)
			q.zeros += zeroCode * value
		}
		q.rowErr = float32(rounding * norm(query) / float64(q.scale))
		q.queryErr = float32(rounding) * q.scale
		g.queries = append(g.queries, q)
	}
	return g
}

// candidate returns the bounds of a row with a product and a scale.
func (q codedQuery) candidate(row uint32, value int32, scale float32) candidate {
	unit := scale * q.scale
	score, err := float32(value-q.zeros)*unit, q.rowErr*unit+q.queryErr
	return candidate{row: row, score: score, lower: score - err, upper: score + err}
}

// scanCodes offers the rows from…to to each query's top k.
func (s *search) scanCodes(from, to uint32, out *buffers, bests []*topK) error {
	width := codeStride(s.dims)
	if err := s.touch(Codes, int64(from)*int64(width), int64(to)*int64(width)); err != nil {
		return err
	}
	if err := s.touch(Scales, int64(from)*4, int64(to)*4); err != nil {
		return err
	}
	for ; from < to; from += blockRows {
		n := int(min(to-from, blockRows))
		scales := s.scales[from : int(from)+n]
		factors := out.padFactors(scales)
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

// multiply computes the products of n rows and a group's queries.
func (s *search) multiply(coded codedGroup, rows *byte, n, width int, out *buffers) {
	if s.kernels.dot != nil && len(coded.queries) == 1 {
		s.kernels.dot(rows, n, width, &coded.values[0], &out.dots[0])
		return
	}
	s.kernels.dots(rows, n, width, &coded.values[0], &out.dots)
}

// offerCode offers a row whose bits say that its score is at most upper.
func (s *search) offerCode(row uint32, upper float32, query int, out *buffers, b *topK) error {
	width := int64(codeStride(s.dims))
	at := int64(row) * width
	if err := s.touch(Codes, at, at+width); err != nil {
		return err
	}
	if err := s.touch(Scales, int64(row)*4, int64(row)*4+4); err != nil {
		return err
	}
	coded := s.coded[query/group]
	s.multiply(coded, &s.columns.Codes[at], 1, int(width), out)
	b.add(coded.queries[query%group].candidate(row, out.dots[query%group][0], s.scales[row]).capAt(upper))
	return nil
}

// buffers are the outputs of one worker's kernels.
type buffers struct {
	dots    [group][blockRows]int32
	sums    [blockRows]int32
	factors [blockRows]float32
}

// padFactors pads factors to a block's rows, as kernels require.
func (b *buffers) padFactors(factors []float32) *[blockRows]float32 {
	if len(factors) == blockRows {
		return (*[blockRows]float32)(unsafe.Pointer(&factors[0]))
	}
	clear(b.factors[copy(b.factors[:], factors):])
	return &b.factors
}
