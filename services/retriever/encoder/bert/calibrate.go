package bert

import (
	"encoding/binary"
	"slices"
)

// samples show which numbers are large. These are large in every text, so a
// few texts will do.
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

// calibrate gives each layer's spare codes to the numbers that are largest in
// the samples.
func (m *model) calibrate(k *kernels, samples [][]int64) {
	for _, l := range m.linears() {
		l.spread.seen = make([]float32, l.in)
	}
	m.encode(k, &workspace{}, samples)
	for _, l := range m.linears() {
		l.setSpread(spreadFor(l.spread.seen))
	}
}

func (m *model) linears() []*linear {
	var all []*linear
	for _, l := range m.layers {
		all = append(all, l.attend, l.join, l.expand, l.contract)
	}
	return all
}

// spares tells one calibration from another.
func (m *model) spares() []byte {
	var b []byte
	for _, l := range m.linears() {
		for _, number := range l.spread.spares {
			b = binary.LittleEndian.AppendUint16(b, uint16(number))
		}
	}
	return b
}

// see notes how large numbers are.
func (s *spread) see(x []float32) {
	for row := range slices.Chunk(x, len(s.seen)) {
		for i, v := range row {
			s.seen[i] = max(s.seen[i], v, -v)
		}
	}
}
