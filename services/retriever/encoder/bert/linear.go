package bert

import (
	"fmt"
	"math"
)

// Rows and columns per call of the kernel.
const (
	blockRows    = 6
	blockColumns = 64
)

// spareCodes is the number of codes of a vector in addition to one per number. A few numbers, the
// same in every text, are many times larger than the rest, and one scale for all would leave little
// precision for the rest: so these numbers are represented by the sum of several codes (compare
// Xiao et al. 2023, who scale such channels).
const spareCodes = 64

// linear is a dense layer: out = in · weights + bias. The weights are 8-bit codes with a factor per
// column.
type linear struct {
	in, out int
	spread  *spread
	// weights are arranged for the kernel: panels of 64 columns, in them four rows at a time, in
	// these four codes per column. The codes are offset by 128, because the processor multiplies
	// signed by unsigned numbers.
	weights       []uint8
	factors, bias []float32
	// sums are the sums of each column's weights.
	sums []float32
}

// newLinear places matrices with equal rows side by side. scales multiplies the output of each
// matrix.
func newLinear(matrices []matrix, biases [][]float32, scales []float32) *linear {
	l := &linear{in: matrices[0].rows, spread: newSpread(matrices[0].rows)}
	for i, m := range matrices {
		l.out += m.columns
		for column := range m.columns {
			l.factors = append(l.factors, m.factors[column]*scales[i])
			l.bias = append(l.bias, biases[i][column]*scales[i])
		}
	}
	l.weights = make([]uint8, l.depth()*l.out)
	at := 0
	for _, m := range matrices {
		for row := range m.rows {
			for column := range m.columns {
				l.weights[l.place(row, at+column)] = m.codes[row*m.columns+column] + 128
			}
		}
		at += m.columns
	}
	l.setSpread(l.spread)
	return l
}

// setSpread sets the numbers with more than one code.
func (l *linear) setSpread(s *spread) {
	l.spread = s
	l.sums = make([]float32, l.out)
	for column := range l.out {
		for i, number := range s.spares {
			l.weights[l.place(l.in+i, column)] = l.weights[l.place(number, column)]
		}
		sum := 0
		for row := range l.depth() {
			sum += int(l.weights[l.place(row, column)]) - 128
		}
		l.sums[column] = float32(sum) * l.factors[column]
	}
}

// depth is the number of codes of a vector.
func (l *linear) depth() int { return l.in + spareCodes }

func (l *linear) place(row, column int) int {
	panel := column / blockColumns
	return ((panel*l.depth()/4+row/4)*blockColumns+column%blockColumns)*4 + row%4
}

// rows are vectors as codes, each code times the vector's scale plus its middle.
type rows struct {
	codes           []int8
	scales, middles []float32
	// corrections compensate for the offset of the weights.
	corrections []int32
}

func newRows(n, width int) rows {
	return rows{make([]int8, n*(width+spareCodes)), make([]float32, n), make([]float32, n), make([]int32, n)}
}

// quantise rounds n vectors to codes, each by its own largest number, so that vectors do not depend
// on each other.
func (r rows) quantise(k *kernels, s *spread, x []float32, n int) {
	width := len(s.shares)
	if s.largest != nil {
		s.recordLargest(x[:n*width])
	}
	for i := range n {
		x := x[i*width : (i+1)*width]
		codes := r.codes[i*(width+spareCodes) : (i+1)*(width+spareCodes)]
		scale, middle, sum := k.quantise(x, s.shares, codes[:width])
		sum += s.fill(x, scale, middle, codes)
		r.scales[i], r.middles[i], r.corrections[i] = scale, middle, -128*sum
	}
}

// apply multiplies n rows; out has room for full blocks of rows.
func (l *linear) apply(k *kernels, r rows, n int, out []float32) {
	depth := l.depth()
	for column := 0; column < l.out; column += blockColumns {
		weights := l.weights[column*depth : (column+blockColumns)*depth]
		for row := 0; row < n; row += blockRows {
			k.dot(block{
				codes:       r.codes[row*depth : (row+blockRows)*depth],
				weights:     weights,
				scales:      r.scales[row : row+blockRows],
				middles:     r.middles[row : row+blockRows],
				corrections: r.corrections[row : row+blockRows],
				factors:     l.factors[column : column+blockColumns],
				sums:        l.sums[column : column+blockColumns],
				bias:        l.bias[column : column+blockColumns],
				out:         out[row*l.out+column : (row+blockRows-1)*l.out+column+blockColumns],
				depth:       depth,
				stride:      l.out,
			})
		}
	}
}

// matrix holds numbers as 8-bit codes, times a factor per row or per column.
type matrix struct {
	rows, columns int
	codes         []byte // of int8, -127 to 127
	factors       []float32
}

// matrix returns a constant of two dims as codes. Floats are rounded: the largest of a column (of a
// row if perRow) becomes 127.
func (g *graph) matrix(name string, perRow bool) (matrix, error) {
	t, whole := g.tensors[name]
	if !whole {
		t = g.tensors[name+"_q"]
	}
	if len(t.dims) != 2 || t.dims[0] == 0 || t.dims[1] == 0 {
		return matrix{}, fmt.Errorf("the model has no matrix %s", name)
	}
	m := matrix{rows: t.dims[0], columns: t.dims[1]}
	lines := m.columns
	if perRow {
		lines = m.rows
	}
	if whole {
		values, err := g.floats(name, m.rows*m.columns)
		if err != nil {
			return m, err
		}
		m.round(values, lines, perRow)
		return m, nil
	}
	if t.dataType != typeInt8 {
		return m, fmt.Errorf("the model's %s is not of 8-bit integers", name)
	}
	m.codes = t.data
	for _, c := range m.codes {
		if int8(c) == math.MinInt8 {
			return m, fmt.Errorf("the model's %s holds -128; want codes from -127 to 127", name)
		}
	}
	var err error
	m.factors, err = g.floats(name+"_scale", lines)
	return m, err
}

func (m *matrix) round(values []float32, lines int, perRow bool) {
	m.codes, m.factors = make([]byte, len(values)), make([]float32, lines)
	line := func(i int) int {
		if perRow {
			return i / m.columns
		}
		return i % m.columns
	}
	for i, x := range values {
		m.factors[line(i)] = max(m.factors[line(i)], float32(math.Abs(float64(x)))/127)
	}
	for i, x := range values {
		if f := m.factors[line(i)]; f > 0 {
			m.codes[i] = byte(int8(math.RoundToEven(float64(x / f))))
		}
	}
}

// row writes row i times its factor.
func (m *matrix) row(to []float32, i int) {
	for c, code := range m.codes[i*m.columns : (i+1)*m.columns] {
		to[c] = float32(int8(code)) * m.factors[i]
	}
}

// spread assigns the spare codes to numbers of a layer's input.
type spread struct {
	// shares holds, per number, the reciprocal of its number of codes.
	shares []float32
	// spares are the numbers of the spare codes, ascending.
	spares []int
	// largest, if set, records the largest absolute value of each number.
	largest []float32
}

// newSpread assigns all spare codes to the first number, until calibration.
func newSpread(numbers int) *spread {
	largest := make([]float32, numbers)
	largest[0] = 1
	return spreadFor(largest)
}

// spreadFor assigns each spare code to the number with the largest value per code.
func spreadFor(largest []float32) *spread {
	codes := make([]int, len(largest))
	for i := range codes {
		codes[i] = 1
	}
	for range spareCodes {
		most := 0
		for i, x := range largest {
			if x/float32(codes[i]) > largest[most]/float32(codes[most]) {
				most = i
			}
		}
		codes[most]++
	}
	s := &spread{shares: make([]float32, len(largest))}
	for i, n := range codes {
		s.shares[i] = 1 / float32(n)
		for range n - 1 {
			s.spares = append(s.spares, i)
		}
	}
	return s
}

// fill writes the spare codes of x and returns their sum: what a number's first code cannot
// represent goes to its spares in turn. Each code adds a middle.
func (s *spread) fill(x []float32, scale, middle float32, codes []int8) int32 {
	var sum int32
	var factor float32
	if scale > 0 {
		factor = 1 / scale
	}
	spares := codes[len(x):]
	before := -1
	var left int32
	for i, number := range s.spares {
		if number != before {
			before = number
			rest := float32(x[number]*factor) - float32(middle*factor)/s.shares[number]
			left = int32(math.RoundToEven(float64(rest))) - int32(codes[number])
		}
		c := max(-127, min(left, 127))
		left -= c
		spares[i] = int8(c)
		sum += c
	}
	return sum
}
