//go:build cgo

package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ort "github.com/yalue/onnxruntime_go"
)

const outputName = "last_hidden_state"

// model is a session of ONNX Runtime. It computes on the calling thread, so several calls at once
// use several cores and share the weights.
type model struct {
	session *ort.DynamicAdvancedSession
	// inputs are the names of its input tensors.
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
			return nil, fmt.Errorf("the model has an input %q, which a BERT has not", in.Name)
		}
		m.inputs = append(m.inputs, in.Name)
	}
	for _, out := range outputs {
		if out.Name == outputName && len(out.Dimensions) == 3 && out.Dimensions[2] > 0 {
			m.dims = int(out.Dimensions[2])
		}
	}
	if m.dims == 0 {
		return nil, fmt.Errorf("the model has no output %s of known width", outputName)
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }()
	if err := errors.Join(options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1)); err != nil {
		return nil, err
	}
	m.session, err = ort.NewDynamicAdvancedSessionWithONNXData(weights, m.inputs, []string{outputName}, options)
	return m, err
}

func (m *model) close() error { return m.session.Destroy() }

// run encodes one batch, given by indexes of texts.
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

// compute runs the model and terminates it when ctx is done.
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

// maxBatch is the number of texts encoded together; more is no faster.
const maxBatch = 32

// plan groups texts of similar length, so that little is padded, the longest first, so that cores
// finish together. Few texts are split over all cores into parts of about as many tokens.
func plan(tokens [][]int64, workers int) [][]int {
	if len(tokens) == 0 {
		return nil
	}
	order := make([]int, len(tokens))
	total := 0
	for i := range order {
		order[i] = i
		total += len(tokens[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(tokens[b]), len(tokens[a])) })

	parts := max(workers, (len(tokens)+maxBatch-1)/maxBatch)
	var batches [][]int
	from, done := 0, 0
	for i, text := range order {
		done += len(tokens[text])
		// A part ends when its share of the tokens is reached or half of the next text would exceed
		// it.
		next := 0
		if i+1 < len(order) {
			next = len(tokens[order[i+1]])
		}
		share := (len(batches) + 1) * total
		if i+1-from == maxBatch || i+1 == len(order) || (2*done+next)*parts > 2*share {
			batches = append(batches, order[from:i+1])
			from = i + 1
		}
	}
	return batches
}

// pool averages the hidden states of a text's tokens and scales the result to length 1 (Reimers and
// Gurevych 2019, §3, mean pooling).
func pool(hidden []float32, tokens, dims int) []float32 {
	vector := make([]float32, dims)
	for t := range tokens {
		for d, x := range hidden[t*dims : (t+1)*dims] {
			vector[d] += x
		}
	}
	var sum float64
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	if sum > 0 {
		scale := float32(1 / math.Sqrt(sum))
		for d := range vector {
			vector[d] *= scale
		}
	}
	return vector
}
