// Package bert encodes texts in process by a BERT such as all-MiniLM-L6-v2,
// whose dense layers multiply 8-bit integers: several times faster than
// floating point, with nearly the same vectors. It needs no ONNX Runtime.
//
// Weights are rounded once per column, activations per token as they come. So
// a text's vector depends on the text alone, to the last bit, whatever is
// encoded beside it; and texts of all lengths go together without padding.
package bert

import (
	"bytes"
	"context"
	"fmt"
	"runtime"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
)

// Config names the files that `triplemesh setup` downloads.
type Config struct {
	// Model is an ONNX file: a BERT with 384 numbers per token, whose weights are 8-bit integers or
	// numbers that are rounded to such.
	Model string
	// Vocabulary is the model's vocab.txt.
	Vocabulary string
	// Name is the model's name. "-int8" and a part of the files' checksum are appended, because
	// these vectors do not mix with others.
	Name string
	// Threads is the number of parts of a call that are encoded at once, each on one core; 0 means
	// all cores.
	Threads int
}

const (
	// maxTokens is the maximum length of a text in sentence-transformers.
	maxTokens = 256
	// scheme is incremented when the same files give other vectors.
	scheme = "1"
	// partTokens is the number of tokens that go through the model together: enough to amortise
	// reading the weights, few enough to stay in the cache.
	partTokens = 384
	// minPartTokens is the number of tokens from which a part is worth a core: each reads all weights,
	// in blocks of blockRows tokens.
	minPartTokens = 24
)

// Encoder is a model in memory. It is safe for concurrent use.
type Encoder struct {
	name      string
	tokenizer *encoder.Tokenizer
	model     *model
	kernels   *kernels
	// workspaces holds one workspace per part that may be encoded at once.
	workspaces chan *workspace
}

// New loads a model.
func New(cfg Config) (*Encoder, error) {
	files, err := encoder.ReadModel(cfg.Model, cfg.Vocabulary)
	if err != nil {
		return nil, err
	}
	m, err := newModel(files.Weights)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", cfg.Model, err)
	}
	pieces := bytes.Count(bytes.TrimSuffix(files.Vocabulary, []byte("\n")), []byte("\n")) + 1
	if m.words.rows < pieces {
		return nil, fmt.Errorf("load %s: vocabulary size mismatch: %d pieces, %s has %d; use files of one model",
			cfg.Model, m.words.rows, cfg.Vocabulary, pieces)
	}
	if len(m.positions) < maxTokens {
		return nil, fmt.Errorf("load %s: it reads %d tokens; want %d at least", cfg.Model, len(m.positions), maxTokens)
	}
	var ids [][]int64
	for _, text := range samples {
		ids = append(ids, files.Tokenizer.Encode(text, maxTokens))
	}
	k := bestKernels()
	m.calibrate(k, ids)
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	fingerprint := encoder.Fingerprint([]byte(scheme), files.Weights, files.Vocabulary, m.spares())
	e := &Encoder{
		name:       cfg.Name + "-int8@" + fingerprint,
		tokenizer:  files.Tokenizer,
		model:      m,
		kernels:    k,
		workspaces: make(chan *workspace, cfg.Threads),
	}
	for range cfg.Threads {
		e.workspaces <- &workspace{}
	}
	return e, nil
}

// Name implements encoder.Encoder.
func (e *Encoder) Name() string { return e.name }

// Dims implements encoder.Encoder.
func (e *Encoder) Dims() int { return width }

// Encode implements encoder.Encoder. Longer texts are cut after 256 tokens.
func (e *Encoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	tokens := make([][]int64, len(texts))
	for i, text := range texts {
		tokens[i] = e.tokenizer.Encode(text, maxTokens)
	}
	parts := split(tokens, cap(e.workspaces))
	vectors := make([][]float32, len(texts))
	// At most as many goroutines as workspaces, so that a load of thousands of texts never queues
	// more than that many parts ahead of a question's.
	if err := encoder.RunParallel(ctx, cap(e.workspaces), len(parts), func(ctx context.Context, i int) error {
		p := parts[i]
		return e.encodePart(ctx, tokens[p.from:p.to], vectors[p.from:p.to])
	}); err != nil {
		return nil, fmt.Errorf("encode %d texts: %w", len(texts), err)
	}
	return vectors, nil
}

func (e *Encoder) encodePart(ctx context.Context, tokens [][]int64, vectors [][]float32) error {
	var w *workspace
	select {
	case w = <-e.workspaces:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { e.workspaces <- w }()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	copy(vectors, e.model.encode(e.kernels, w, tokens))
	return nil
}

// part is a range of texts.
type part struct{ from, to int }

// split divides the texts into parts of about as many tokens, at least one part per worker if there
// are as many texts and enough tokens.
func split(tokens [][]int64, workers int) []part {
	total := 0
	for _, ids := range tokens {
		total += len(ids)
	}
	n := max(min(workers, total/minPartTokens), (total+partTokens-1)/partTokens)
	var parts []part
	from, done := 0, 0
	for i, ids := range tokens {
		done += len(ids)
		next := 0
		if i+1 < len(tokens) {
			next = len(tokens[i+1])
		}
		// A part ends when its share is reached or half of the next text would exceed it.
		if i+1 == len(tokens) || (2*done+next)*n > 2*(len(parts)+1)*total {
			parts = append(parts, part{from, i + 1})
			from = i + 1
		}
	}
	return parts
}
