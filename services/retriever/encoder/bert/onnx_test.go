package bert

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func appendField(to []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), value)
}

// constantOf returns an initializer of a graph.
func constantOf(name string, dataType uint64, data []byte, dims ...uint64) []byte {
	var m []byte
	for _, d := range dims {
		m = protowire.AppendVarint(protowire.AppendTag(m, tensorDims, protowire.VarintType), d)
	}
	m = protowire.AppendVarint(protowire.AppendTag(m, tensorDataType, protowire.VarintType), dataType)
	m = appendField(m, tensorName, []byte(name))
	return appendField(nil, graphInitializer, appendField(m, tensorRawData, data))
}

func floatsOf(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func nodeOf(op string, output string, inputs ...string) []byte {
	var m []byte
	for _, in := range inputs {
		m = appendField(m, nodeInput, []byte(in))
	}
	m = appendField(m, nodeOutput, []byte(output))
	return appendField(nil, graphNode, appendField(m, nodeOpType, []byte(op)))
}

func fileOf(parts ...[]byte) []byte { return appendField(nil, modelGraph, slices.Concat(parts...)) }

func small() []byte {
	return fileOf(
		nodeOf("MatMul", "product", "x", "w"),
		nodeOf("Add", "sum", "inner.encoder.layer.0.output.dense.bias", "product"),
		constantOf("inner.encoder.layer.0.output.dense.bias", typeFloat, floatsOf(1, 2, 3), 3),
		constantOf("w", typeFloat, floatsOf(127, 1, 0, -254, 0.5, 0), 2, 3),
		constantOf("q_q", typeInt8, []byte{1, 0xFF, 127, 0x81, 0, 5}, 2, 3),
		constantOf("q_scale", typeFloat, floatsOf(1, 2, 3), 1, 3),
		constantOf("low_q", typeInt8, []byte{0x80}, 1, 1),
		constantOf("low_scale", typeFloat, floatsOf(1), 1),
	)
}

func TestReadGraph(t *testing.T) {
	g, err := readGraph(small())
	if err != nil {
		t.Fatal(err)
	}
	if w := g.weights["encoder.layer.0.output.dense.bias"]; w != "w" {
		t.Errorf("the bias belongs to %q, want w", w)
	}
	if bias, err := g.floats("encoder.layer.0.output.dense.bias", 3); err != nil ||
		!slices.Equal(bias, []float32{1, 2, 3}) {
		t.Errorf("bias %v, error %v", bias, err)
	}
	for name, c := range map[string]struct {
		perRow  bool
		codes   []int8
		factors []float32
	}{
		"w": {false, []int8{64, 127, 0, -127, 64, 0}, []float32{2, 1.0 / 127, 0}},
		"q": {false, []int8{1, -1, 127, -127, 0, 5}, []float32{1, 2, 3}},
	} {
		m, err := g.matrix(name, c.perRow)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.codes {
			if int8(m.codes[i]) != want {
				t.Errorf("%s: code %d is %d, want %d", name, i, int8(m.codes[i]), want)
			}
		}
		if !slices.Equal(m.factors, c.factors) || m.rows != 2 || m.columns != 3 {
			t.Errorf("%s: %d by %d, factors %v, want %v", name, m.rows, m.columns, m.factors, c.factors)
		}
	}
	m, err := g.matrix("w", true)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, 3)
	if m.row(row, 1); !slices.Equal(row, []float32{-254, 0, 0}) {
		t.Errorf("row 1 is %v", row)
	}
	for _, name := range []string{"nothing", "low", "encoder.layer.0.output.dense.bias"} {
		if _, err := g.matrix(name, false); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("matrix %s: error %v", name, err)
		}
	}
}

func TestNewModelNamesMissingParts(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"not a protobuf": {[]byte("\xff\xff\xff"), "ONNX"},
		"nothing":        {nil, "ONNX"},
		"another model":  {small(), "word_embeddings"},
		"a short tensor": {fileOf(constantOf("w", typeFloat, floatsOf(1), 2, 3)), "6 numbers"},
		"an endless tensor": {fileOf(constantOf("w", typeFloat, floatsOf(1), math.MaxInt32, math.MaxInt32,
			math.MaxInt32)), "tensor"},
		"numbers that are none": {
			fileOf(constantOf("embeddings.word_embeddings.weight", typeFloat, floatsOf(float32(math.NaN())), 1, 1)),
			"NaN",
		},
	} {
		if _, err := newModel(c.file); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", name, err, c.says)
		}
	}
}

func FuzzReadGraph(f *testing.F) {
	f.Add(small())
	f.Add(small()[:40])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		g, err := readGraph(file)
		if err != nil {
			return
		}
		for name := range g.tensors {
			m, err := g.matrix(strings.TrimSuffix(name, "_q"), true)
			if err != nil {
				continue
			}
			m.row(make([]float32, m.columns), m.rows-1)
		}
	})
}
