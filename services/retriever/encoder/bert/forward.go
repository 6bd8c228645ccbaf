package bert

import (
	"math"
	"slices"
)

// expandedRows is the number of tokens that go through the feed-forward part together, few enough
// that the intermediate result stays in the cache.
const expandedRows = 16 * blockRows

// workspace is reusable memory of one goroutine. Nothing is padded: the tokens of all texts are
// consecutive.
type workspace struct {
	x, y, attended, expanded []float32
	codes, expandedCodes     rows
	scratch                  []float32
}

// resize makes room for tokens, and for attention within a text of length longest.
func (w *workspace) resize(tokens, longest int) {
	tokens = (tokens + blockRows - 1) / blockRows * blockRows
	if n := scratchFor(longest); len(w.scratch) < n {
		w.scratch = make([]float32, n)
	}
	if len(w.x) >= tokens*width {
		return
	}
	w.x, w.y = make([]float32, tokens*width), make([]float32, tokens*width)
	w.attended = make([]float32, tokens*3*width)
	w.codes = newRows(tokens, width)
	if w.expanded == nil {
		w.expanded = make([]float32, expandedRows*4*width)
		w.expandedCodes = newRows(expandedRows, 4*width)
	}
}

// encode returns one vector per text: the mean of its tokens, of length 1 (Reimers and Gurevych
// 2019, §3). A text has at least one token and at most as many as there are positions.
func (m *model) encode(k *kernels, w *workspace, texts [][]int64) [][]float32 {
	tokens, longest := 0, 0
	for _, ids := range texts {
		tokens += len(ids)
		longest = max(longest, len(ids))
	}
	w.resize(tokens, longest)
	row := 0
	for _, ids := range texts {
		for position, id := range ids {
			x := w.x[row*width : (row+1)*width]
			m.words.row(x, int(id))
			k.normalise(x, m.positions[position], m.gain, m.bias)
			row++
		}
	}
	for i := range m.layers {
		m.layers[i].forward(k, w, texts, tokens)
	}
	vectors := make([][]float32, len(texts))
	row = 0
	for i, ids := range texts {
		vectors[i] = pool(w.x[row*width : (row+len(ids))*width])
		row += len(ids)
	}
	return vectors
}

// forward replaces x by the layer's output.
func (l *layer) forward(k *kernels, w *workspace, texts [][]int64, tokens int) {
	w.codes.quantise(k, l.attend.spread, w.x, tokens)
	l.attend.apply(k, w.codes, tokens, w.attended)
	row := 0
	for _, ids := range texts {
		for at := 0; at < width; at += headDims {
			from := w.attended[row*3*width+at:]
			k.attend(head{
				q: from, k: from[width:], v: from[2*width:], width: 3 * width,
				tokens: len(ids), scratch: w.scratch,
				out: w.y[row*width+at:], outWidth: width,
			})
		}
		row += len(ids)
	}
	w.codes.quantise(k, l.join.spread, w.y, tokens)
	l.join.apply(k, w.codes, tokens, w.y)
	w.normalise(k, tokens, l.joinGain, l.joinBias)

	w.codes.quantise(k, l.expand.spread, w.x, tokens)
	for row := 0; row < tokens; row += expandedRows {
		n := min(expandedRows, tokens-row)
		l.expand.apply(k, w.codes.startingAt(row, width), n, w.expanded)
		for i := range n {
			k.gelu(w.expanded[i*4*width : (i+1)*4*width])
		}
		w.expandedCodes.quantise(k, l.contract.spread, w.expanded, n)
		l.contract.apply(k, w.expandedCodes, n, w.y[row*width:])
	}
	w.normalise(k, tokens, l.contractGain, l.contractBias)
}

// normalise sets x to the normalised sum of x and y.
func (w *workspace) normalise(k *kernels, tokens int, gain, bias []float32) {
	for row := range tokens {
		k.normalise(w.y[row*width:(row+1)*width], w.x[row*width:(row+1)*width], gain, bias)
	}
	w.x, w.y = w.y, w.x
}

// startingAt returns the rows from row on.
func (r rows) startingAt(row, width int) rows {
	return rows{r.codes[row*(width+spareCodes):], r.scales[row:], r.middles[row:], r.corrections[row:]}
}

func pool(hidden []float32) []float32 {
	vector := make([]float32, width)
	for row := range slices.Chunk(hidden, width) {
		for d, x := range row {
			vector[d] += x
		}
	}
	var sum float64
	for _, x := range vector {
		sum += float64(x) * float64(x) // exact, so it may be fused
	}
	if sum > 0 {
		scale := float32(1 / math.Sqrt(sum))
		for d := range vector {
			vector[d] *= scale
		}
	}
	return vector
}
