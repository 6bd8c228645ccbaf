package bert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of an ONNX file that are read, by number (onnx.proto3).
const (
	modelGraph = 7

	graphNode        = 1
	graphInitializer = 5

	nodeInput  = 1
	nodeOutput = 2
	nodeOpType = 4

	tensorDims     = 1
	tensorDataType = 2
	tensorName     = 8
	tensorRawData  = 9

	typeFloat = 1
	typeInt8  = 3
)

// tensor is a constant of the file; its data are a slice of the file.
type tensor struct {
	dims     []int
	dataType uint64
	data     []byte
}

// graph holds the constants of an ONNX file of a BERT and, for each dense layer's bias, the matrix
// that is multiplied before.
type graph struct {
	tensors map[string]tensor
	weights map[string]string
}

var errONNX = errors.New("not a readable ONNX file")

// readFields calls do for each field of a message; value is the content of a length-delimited
// field, number that of a varint.
func readFields(message []byte, do func(field protowire.Number, value []byte, number uint64) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return fmt.Errorf("%w: %w", errONNX, protowire.ParseError(n))
		}
		message = message[n:]
		var value []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", errONNX, protowire.ParseError(n))
		}
		message = message[n:]
		if err := do(field, value, number); err != nil {
			return err
		}
	}
	return nil
}

// readGraph reads an ONNX file without copying its weights.
func readGraph(file []byte) (*graph, error) {
	g := &graph{tensors: map[string]tensor{}, weights: map[string]string{}}
	// products has the second factor of each matrix product, sums the terms.
	products := map[string]string{}
	var sums [][]string
	node := func(message []byte) error {
		var inputs, outputs []string
		var op string
		err := readFields(message, func(field protowire.Number, value []byte, _ uint64) error {
			switch field {
			case nodeInput:
				inputs = append(inputs, string(value))
			case nodeOutput:
				outputs = append(outputs, string(value))
			case nodeOpType:
				op = string(value)
			}
			return nil
		})
		if len(inputs) == 2 && len(outputs) == 1 {
			switch op {
			case "MatMul":
				products[outputs[0]] = inputs[1]
			case "Add":
				sums = append(sums, inputs)
			}
		}
		return err
	}
	err := readFields(file, func(field protowire.Number, value []byte, _ uint64) error {
		if field != modelGraph {
			return nil
		}
		return readFields(value, func(field protowire.Number, value []byte, _ uint64) error {
			switch field {
			case graphNode:
				return node(value)
			case graphInitializer:
				return g.constant(value)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	for _, terms := range sums {
		for i, bias := range terms {
			if product, ok := products[terms[1-i]]; ok {
				g.weights[layerName(bias)] = product
			}
		}
	}
	if len(g.tensors) == 0 {
		return nil, fmt.Errorf("%w: no weights are in it", errONNX)
	}
	return g, nil
}

// layerName removes the exporter's prefix from a BERT name.
func layerName(name string) string {
	for _, begin := range []string{"embeddings.", "encoder.layer."} {
		if at := strings.Index(name, begin); at >= 0 {
			return name[at:]
		}
	}
	return name
}

func (g *graph) constant(message []byte) error {
	var t tensor
	var name string
	elements := 1
	dim := func(d uint64) error {
		if d > math.MaxInt32 || elements > math.MaxInt32 {
			return fmt.Errorf("%w: a tensor of %d by %d", errONNX, elements, d)
		}
		t.dims = append(t.dims, int(d))
		elements *= int(d)
		return nil
	}
	err := readFields(message, func(field protowire.Number, value []byte, number uint64) error {
		switch field {
		case tensorDims:
			if value == nil {
				return dim(number)
			}
			for len(value) > 0 {
				d, n := protowire.ConsumeVarint(value)
				if n < 0 {
					return fmt.Errorf("%w: %w", errONNX, protowire.ParseError(n))
				}
				value = value[n:]
				if err := dim(d); err != nil {
					return err
				}
			}
		case tensorDataType:
			t.dataType = number
		case tensorName:
			name = layerName(string(value))
		case tensorRawData:
			t.data = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	size, known := map[uint64]int{typeFloat: 4, typeInt8: 1}[t.dataType]
	if known && len(t.data) != size*elements {
		return fmt.Errorf("%w: %s has %d bytes for %d numbers", errONNX, name, len(t.data), elements)
	}
	g.tensors[name] = t
	return nil
}

// floats returns a constant with this many numbers.
func (g *graph) floats(name string, want int) ([]float32, error) {
	t, ok := g.tensors[name]
	if !ok || t.dataType != typeFloat || len(t.data) != 4*want {
		return nil, fmt.Errorf("the model has no %s of %d numbers", name, want)
	}
	values := make([]float32, want)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
		if values[i]-values[i] != 0 {
			return nil, fmt.Errorf("the model's %s holds %v", name, values[i])
		}
	}
	return values, nil
}
