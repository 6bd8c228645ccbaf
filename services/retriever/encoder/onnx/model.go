package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	ort "github.com/yalue/onnxruntime_go"
)

const output = "last_hidden_state"

// model is one session of ONNX Runtime. It computes on the thread that calls
// it, so several calls at once keep several cores busy and share the weights.
type model struct {
	session *ort.DynamicAdvancedSession
	// inputs are the names of the tensors it takes.
	inputs []string
	dims   int
}

func newModel(weights []byte) (*model, error) {
	inputs, outputs, err := ort.GetInputOutputInfoWithONNXData(weights)
	if err != nil {
		return nil, err
	}
	m := &model{}
	for _, in := range inputs {
		if !slices.Contains([]string{"input_ids", "attention_mask", "token_type_ids"}, in.Name) {
			return nil, fmt.Errorf("the model wants %q, which BERT does not", in.Name)
		}
		m.inputs = append(m.inputs, in.Name)
	}
	for _, out := range outputs {
		if out.Name == output && len(out.Dimensions) == 3 && out.Dimensions[2] > 0 {
			m.dims = int(out.Dimensions[2])
		}
	}
	if m.dims == 0 {
		return nil, fmt.Errorf("the model has no output %s of known width", output)
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }()
	if err := errors.Join(options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1)); err != nil {
		return nil, err
	}
	m.session, err = ort.NewDynamicAdvancedSessionWithONNXData(weights, m.inputs, []string{output}, options)
	return m, err
}

func (m *model) close() error { return m.session.Destroy() }

// run encodes one batch: the texts whose places it names.
func (m *model) run(ctx context.Context, batch []int, tokens [][]int64, vectors [][]float32) (err error) {
	width := 0
	for _, text := range batch {
		width = max(width, len(tokens[text]))
	}
	ids := make([]int64, len(batch)*width)
	mask := make([]int64, len(batch)*width)
	for row, text := range batch {
		copy(ids[row*width:], tokens[text])
		for i := range tokens[text] {
			mask[row*width+i] = 1
		}
	}
	data := map[string][]int64{"input_ids": ids, "attention_mask": mask, "token_type_ids": make([]int64, len(ids))}

	hidden := make([]float32, len(ids)*m.dims)
	result, err := ort.NewTensor(ort.NewShape(int64(len(batch)), int64(width), int64(m.dims)), hidden)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, result.Destroy()) }()
	values := make([]ort.Value, len(m.inputs))
	for i, name := range m.inputs {
		tensor, err := ort.NewTensor(ort.NewShape(int64(len(batch)), int64(width)), data[name])
		if err != nil {
			return err
		}
		defer func() { _ = tensor.Destroy() }()
		values[i] = tensor
	}
	if err := m.compute(ctx, values, []ort.Value{result}); err != nil {
		return err
	}
	for row, text := range batch {
		vectors[text] = pool(hidden[row*width*m.dims:], len(tokens[text]), m.dims)
	}
	return nil
}

// compute runs the model and stops it when ctx ends.
func (m *model) compute(ctx context.Context, in, out []ort.Value) error {
	options, err := ort.NewRunOptions()
	if err != nil {
		return err
	}
	defer func() { _ = options.Destroy() }()
	stopped := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = options.Terminate()
	})
	err = m.session.RunWithOptions(in, out, options)
	if !cancel() {
		// The options must outlive the call that uses them.
		<-stopped
		return context.Cause(ctx)
	}
	return err
}
