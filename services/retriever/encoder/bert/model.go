package bert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// width is the number of values per token between layers. Models of other widths have heads of
// other sizes.
const width = 384

// model is a BERT (Devlin et al. 2019) whose dense layers multiply 8-bit integers.
type model struct {
	words matrix
	// positions holds the vector that is added to a word at each position.
	positions  [][]float32
	gain, bias []float32
	layers     []layer
}

// layer is a transformer layer.
type layer struct {
	// attend computes queries, keys and values, in this order; join mixes heads.
	attend, join *linear
	// expand and contract are the feed-forward part.
	expand, contract           *linear
	joinGain, joinBias         []float32
	contractGain, contractBias []float32
}

// newModel reads the weights of an ONNX file.
func newModel(file []byte) (*model, error) {
	g, err := readGraph(file)
	if err != nil {
		return nil, err
	}
	m := &model{}
	if err := m.embeddings(g); err != nil {
		return nil, err
	}
	for {
		prefix := fmt.Sprintf("encoder.layer.%d.", len(m.layers))
		if _, ok := g.weights[prefix+"output.dense.bias"]; !ok {
			break
		}
		l, err := g.layer(prefix)
		if err != nil {
			return nil, err
		}
		m.layers = append(m.layers, l)
	}
	if len(m.layers) == 0 {
		return nil, errors.New("the model has no BERT layers")
	}
	return m, nil
}

func (m *model) embeddings(g *graph) error {
	var err error
	if m.words, err = g.matrix("embeddings.word_embeddings.weight", true); err != nil {
		return err
	}
	places, err := g.matrix("embeddings.position_embeddings.weight", true)
	if err != nil {
		return err
	}
	if m.words.columns != width || places.columns != width {
		return fmt.Errorf("the model is %d numbers wide; want %d", m.words.columns, width)
	}
	kinds, err := g.floats("embeddings.token_type_embeddings.weight", 2*width)
	if err != nil {
		return err
	}
	for i := range places.rows {
		row := make([]float32, width)
		places.row(row, i)
		// All tokens have the first type.
		for d := range row {
			row[d] += kinds[d]
		}
		m.positions = append(m.positions, row)
	}
	if m.gain, err = g.floats("embeddings.LayerNorm.weight", width); err != nil {
		return err
	}
	m.bias, err = g.floats("embeddings.LayerNorm.bias", width)
	return err
}

// reader reads a layer's parts and keeps the first error.
type reader struct {
	g      *graph
	prefix string
	err    error
}

func (g *graph) layer(prefix string) (layer, error) {
	r := &reader{g: g, prefix: prefix}
	// The scale of the scores is applied to the queries.
	scale := float32(1 / math.Sqrt(headDims))
	l := layer{
		attend: r.linear(width, width, []float32{scale, 1, 1},
			"attention.self.query", "attention.self.key", "attention.self.value"),
		join:         r.linear(width, width, []float32{1}, "attention.output.dense"),
		expand:       r.linear(width, 4*width, []float32{1}, "intermediate.dense"),
		contract:     r.linear(4*width, width, []float32{1}, "output.dense"),
		joinGain:     r.floats("attention.output.LayerNorm.weight", width),
		joinBias:     r.floats("attention.output.LayerNorm.bias", width),
		contractGain: r.floats("output.LayerNorm.weight", width),
		contractBias: r.floats("output.LayerNorm.bias", width),
	}
	return l, r.err
}

func (r *reader) floats(name string, want int) []float32 {
	if r.err != nil {
		return nil
	}
	var values []float32
	values, r.err = r.g.floats(r.prefix+name, want)
	return values
}

func (r *reader) linear(in, out int, scales []float32, names ...string) *linear {
	var matrices []matrix
	var biases [][]float32
	for _, name := range names {
		biases = append(biases, r.floats(name+".bias", out))
		if r.err != nil {
			return nil
		}
		var m matrix
		if m, r.err = r.g.matrix(r.g.weights[r.prefix+name+".bias"], false); r.err != nil {
			r.err = fmt.Errorf("%s%s: %w", r.prefix, name, r.err)
			return nil
		}
		if m.rows != in || m.columns != out {
			r.err = fmt.Errorf("the model's %s%s is %d by %d; want %d by %d", r.prefix, name, m.rows,
				m.columns, in, out)
			return nil
		}
		matrices = append(matrices, m)
	}
	return newLinear(matrices, biases, scales)
}

// samples show which numbers are large. The same numbers are large in every text, so a few texts
// suffice.
var samples = []string{
	"Douglas Adams educated at St John's College",
	"Berlin capital of Germany",
	"who wrote the novel that Blade Runner is based on?",
	"m.0hpz8tq film actor Tom Hanks",
	"Mount Everest elevation 8848.86 metre",
	"The Lord of the Rings: The Fellowship of the Ring (2001)",
	"what language do people speak in Brazil",
	"date of birth 1879-03-14",
	"São Paulo located in time zone UTC−03:00",
	"inverse influenced by Immanuel Kant",
	"spouse",
	"In 1969 the first people walked on the Moon; half a billion others watched them do so on television.",
}

// calibrate assigns each layer's spare codes to the numbers that are largest in the samples.
func (m *model) calibrate(k *kernels, samples [][]int64) {
	for _, l := range m.linears() {
		l.spread.largest = make([]float32, l.in)
	}
	m.encode(k, &workspace{}, samples)
	for _, l := range m.linears() {
		l.setSpread(spreadFor(l.spread.largest))
	}
}

func (m *model) linears() []*linear {
	var all []*linear
	for _, l := range m.layers {
		all = append(all, l.attend, l.join, l.expand, l.contract)
	}
	return all
}

// spares identifies a calibration.
func (m *model) spares() []byte {
	var b []byte
	for _, l := range m.linears() {
		for _, number := range l.spread.spares {
			b = binary.LittleEndian.AppendUint16(b, uint16(number))
		}
	}
	return b
}

// recordLargest records the largest absolute value of each number.
func (s *spread) recordLargest(x []float32) {
	for row := range slices.Chunk(x, len(s.largest)) {
		for i, v := range row {
			s.largest[i] = max(s.largest[i], v, -v)
		}
	}
}
