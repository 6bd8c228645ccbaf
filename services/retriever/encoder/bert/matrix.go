package bert

import (
	"fmt"
	"math"
)

// matrix holds numbers as 8-bit codes, times a factor per row or per column.
type matrix struct {
	rows, columns int
	codes         []byte // of int8, -127 to 127
	factors       []float32
}

// matrix returns a constant of two dims as codes. Where the file has numbers,
// they are rounded: the largest of a column (of a row if perRow) becomes 127.
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

// row writes row i, times its factor.
func (m *matrix) row(to []float32, i int) {
	for c, code := range m.codes[i*m.columns : (i+1)*m.columns] {
		to[c] = float32(int8(code)) * m.factors[i]
	}
}
