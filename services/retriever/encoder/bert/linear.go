package bert

// Rows and columns that one call of the kernel takes.
const (
	blockRows    = 6
	blockColumns = 64
)

// spare is how many more codes than numbers a vector has. A few numbers, the
// same in every text, are many times larger than the rest, and one scale for
// all would leave little of the rest: so these numbers are told by several
// codes, which are added (compare Xiao et al. 2023, who scale such channels).
const spare = 64

// linear is a dense layer: in numbers times weights plus bias gives out
// numbers. The weights are codes of 8 bits with a factor per column.
type linear struct {
	in, out int
	spread  *spread
	// weights are laid out for the kernel: panels of 64 columns, in them four
	// rows at a time, in these four codes per column. The codes are 128 too
	// high, because the processor multiplies signed by unsigned numbers.
	weights       []uint8
	factors, bias []float32
	// sums are those of a column's weights.
	sums []float32
}

// newLinear lays matrices of as many rows side by side. scales multiplies what
// a matrix gives.
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

// setSpread says which numbers have more than one code.
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

// depth is how many codes a vector has.
func (l *linear) depth() int { return l.in + spare }

func (l *linear) place(row, column int) int {
	panel := column / blockColumns
	return ((panel*l.depth()/4+row/4)*blockColumns+column%blockColumns)*4 + row%4
}

// rows are vectors as codes, each code times the vector's scale plus its
// middle.
type rows struct {
	codes           []int8
	scales, middles []float32
	// corrections take back what the weights are too high.
	corrections []int32
}

func newRows(n, width int) rows {
	return rows{make([]int8, n*(width+spare)), make([]float32, n), make([]float32, n), make([]int32, n)}
}

// quantise rounds n vectors to codes, each by its own largest number: so a
// vector does not depend on those beside it.
func (r rows) quantise(k *kernels, s *spread, x []float32, n int) {
	width := len(s.shares)
	if s.seen != nil {
		s.see(x[:n*width])
	}
	for i := range n {
		x := x[i*width : (i+1)*width]
		codes := r.codes[i*(width+spare) : (i+1)*(width+spare)]
		scale, middle, sum := k.quantise(x, s.shares, codes[:width])
		sum += s.fill(x, scale, middle, codes)
		r.scales[i], r.middles[i], r.corrections[i] = scale, middle, -128*sum
	}
}

// apply multiplies n rows; out has room for whole blocks of rows.
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
