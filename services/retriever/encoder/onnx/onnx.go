//go:build cgo

package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
)

// Supported reports whether this program can load ONNX Runtime.
const Supported = true

// maxTokens is the maximum length of a text in sentence-transformers.
const maxTokens = 256

// Encoder is a model in memory. It is safe for concurrent use.
type Encoder struct {
	name      string
	tokenizer *encoder.Tokenizer
	model     *model
	// slots limits the number of concurrent batches.
	slots chan struct{}

	mutex  sync.RWMutex // held for reading while encoding
	closed bool
}

// New loads a model. The caller must Close it.
func New(cfg Config) (*Encoder, error) {
	files, err := encoder.ReadModel(cfg.Model, cfg.Vocabulary)
	if err != nil {
		return nil, err
	}
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	if err := acquire(cfg.Library); err != nil {
		return nil, err
	}
	m, err := newModel(files.Weights)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load %s: %w", cfg.Model, err), release())
	}
	return &Encoder{
		name:      cfg.Name + "@" + encoder.Fingerprint(files.Weights, files.Vocabulary),
		tokenizer: files.Tokenizer,
		model:     m,
		slots:     make(chan struct{}, cfg.Threads),
	}, nil
}

// Name implements encoder.Encoder.
func (e *Encoder) Name() string { return e.name }

// Dims implements encoder.Encoder.
func (e *Encoder) Dims() int { return e.model.dims }

// ErrClosed is returned by Encode after Close.
var ErrClosed = errors.New("encoder closed")

// Close frees the model after the running calls of Encode.
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
	// At most as many goroutines as slots, so that a load of thousands of texts never queues more
	// than that many batches ahead of a question's.
	if err := encoder.RunParallel(ctx, cap(e.slots), len(batches), func(ctx context.Context, i int) error {
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
