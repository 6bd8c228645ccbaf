// Package onnx encodes texts in process: a sentence-transformers model such as
// all-MiniLM-L6-v2, run by ONNX Runtime.
package onnx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/encoder/asset"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/turns"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/wordpiece"
)

// Config says where the files are that `triplemesh setup` fetches.
type Config struct {
	// Library is ONNX Runtime's shared library.
	Library string
	// Model is the ONNX file: a BERT whose output last_hidden_state is still
	// to be pooled.
	Model string
	// Vocabulary is the model's vocab.txt.
	Vocabulary string
	// Name is what people call the model. A part of the files' checksum is
	// added to it, because vectors of two exports of a model do not mix.
	Name string
	// Threads is how many batches are encoded at once, each on one core; 0
	// takes all cores.
	Threads int
}

// maxTokens is the longest text that sentence-transformers gives the model.
const maxTokens = 256

// Encoder is a model in memory. It is safe for concurrent use.
type Encoder struct {
	name      string
	tokenizer *wordpiece.Tokenizer
	model     *model
	// slots has room for as many batches as may run at once.
	slots chan struct{}

	mutex  sync.RWMutex // held for reading while encoding
	closed bool
}

// New loads a model. The caller must Close it.
func New(cfg Config) (*Encoder, error) {
	vocabulary, err := asset.Read("the encoder's vocabulary", cfg.Vocabulary)
	if err != nil {
		return nil, err
	}
	weights, err := asset.Read("the encoder's model", cfg.Model)
	if err != nil {
		return nil, err
	}
	tokenizer, err := wordpiece.New(bytes.NewReader(vocabulary))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Vocabulary, err)
	}
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	if err := acquire(cfg.Library); err != nil {
		return nil, err
	}
	m, err := newModel(weights)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load %s: %w", cfg.Model, err), release())
	}
	return &Encoder{
		name:      cfg.Name + "@" + asset.Fingerprint(weights, vocabulary),
		tokenizer: tokenizer,
		model:     m,
		slots:     make(chan struct{}, cfg.Threads),
	}, nil
}

// Name implements encoder.Encoder.
func (e *Encoder) Name() string { return e.name }

// Dims implements encoder.Encoder.
func (e *Encoder) Dims() int { return e.model.dims }

// ErrClosed is what Encode returns after Close.
var ErrClosed = errors.New("the encoder is closed")

// Close frees the model once nobody encodes any more.
func (e *Encoder) Close() error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	return errors.Join(e.model.close(), release())
}

// Encode implements encoder.Encoder. Texts beyond 256 tokens are cut off. It
// ends early when ctx does.
func (e *Encoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	e.mutex.RLock()
	defer e.mutex.RUnlock()
	if e.closed {
		return nil, ErrClosed
	}
	tokens := make([][]int64, len(texts))
	for i, text := range texts {
		tokens[i] = e.tokenizer.Encode(text, maxTokens)
	}
	batches := plan(tokens, cap(e.slots))
	vectors := make([][]float32, len(texts))
	// No more goroutines than slots: a load of thousands of texts then never
	// has more than that many batches ahead of a question's.
	if err := turns.Each(ctx, cap(e.slots), len(batches), func(ctx context.Context, i int) error {
		return e.encodeBatch(ctx, batches[i], tokens, vectors)
	}); err != nil {
		return nil, fmt.Errorf("encode %d texts: %w", len(texts), err)
	}
	return vectors, nil
}

func (e *Encoder) encodeBatch(ctx context.Context, batch []int, tokens [][]int64, vectors [][]float32) error {
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-e.slots }()
	return e.model.run(ctx, batch, tokens, vectors)
}
