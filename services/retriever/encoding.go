package retriever

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/bert"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/endpoint"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/onnx"
	"github.com/triplemesh/triplemesh/services/retriever/vectorcache"
)

// The kinds of encoder.
const (
	// inProcess runs a model by ONNX Runtime in this process.
	inProcess = "onnx"
	// integers runs the same model in this process on 8-bit integers: faster,
	// with nearly the same vectors, and without ONNX Runtime.
	integers = "int8"
	// remote asks an OpenAI-compatible embeddings endpoint.
	remote = "endpoint"
)

// EncoderConfig chooses the encoder. Vectors of two encoders do not mix: a
// knowledge graph is read with the encoder it was loaded with.
type EncoderConfig struct {
	// Kind is "onnx" or "int8", both in process, or "endpoint".
	Kind string `koanf:"kind"`
	// Library, Vocabulary and File are ONNX Runtime's shared library and the
	// model's vocab.txt and ONNX file; for "onnx" and, but for the library,
	// "int8".
	Library    string `koanf:"library"`
	Vocabulary string `koanf:"vocabulary"`
	File       string `koanf:"file"`
	// Model is the model's name; for "endpoint" as the endpoint knows it.
	Model string `koanf:"model"`
	// Threads is how many cores encode at once; 0 takes all. For "onnx" and
	// "int8".
	Threads int `koanf:"threads"`
	// BaseURL and APIKey of an OpenAI-compatible endpoint, "/v1" included where
	// it has one.
	BaseURL string `koanf:"base_url"`
	APIKey  string `koanf:"api_key"`
	// Dims is the length of the endpoint's vectors; 0 asks it once.
	Dims int `koanf:"dims"`
	// Timeout of one request to the endpoint, and how often a failed one is
	// repeated.
	Timeout time.Duration `koanf:"timeout"`
	Retries int           `koanf:"retries"`
	// Cache keeps the vectors of texts on disk.
	Cache VectorCacheConfig `koanf:"cache"`
}

// VectorCacheConfig says where vectors are kept, so that no text is encoded
// twice. It holds hashes of texts and their vectors, of any encoder.
type VectorCacheConfig struct {
	// Dir is the directory, which several processes may share; empty keeps
	// nothing.
	Dir string `koanf:"dir"`
	// MaxBytes is how large it may grow; beyond that the oldest vectors go. 0
	// means 4 GiB.
	MaxBytes int64 `koanf:"max_bytes"`
}

func defaultEncoder() EncoderConfig {
	return EncoderConfig{
		Kind:       inProcess,
		Library:    ".cache/onnxruntime/libonnxruntime.so",
		Vocabulary: ".cache/encoder/vocab.txt",
		File:       ".cache/encoder/model.onnx",
		Model:      "all-MiniLM-L6-v2",
		Timeout:    30 * time.Second,
		Retries:    2,
	}
}

func (c EncoderConfig) validate() error {
	if c.Kind != inProcess && c.Kind != integers && c.Kind != remote {
		return fmt.Errorf("encoder.kind is %q; want %q, %q or %q", c.Kind, inProcess, integers, remote)
	}
	if c.Cache.MaxBytes < 0 {
		return fmt.Errorf("encoder.cache.max_bytes is %d; want 0 or more", c.Cache.MaxBytes)
	}
	return nil
}

// newEncoder makes the encoder, behind its cache if it has one, and says how
// to let go of both.
func newEncoder(ctx context.Context, c EncoderConfig, log *slog.Logger) (encoder.Encoder, func() error, error) {
	enc, closeEncoder, err := newModel(ctx, c)
	if err != nil || c.Cache.Dir == "" {
		return enc, closeEncoder, err
	}
	cache, err := vectorcache.Open(c.Cache.Dir, vectorcache.Options{MaxBytes: c.Cache.MaxBytes, Logger: log})
	if err != nil {
		return nil, nil, errors.Join(err, closeEncoder())
	}
	return cache.Encoder(enc), func() error { return errors.Join(cache.Close(), closeEncoder()) }, nil
}

// newModel makes the encoder itself.
func newModel(ctx context.Context, c EncoderConfig) (encoder.Encoder, func() error, error) {
	nothing := func() error { return nil }
	switch c.Kind {
	case integers:
		e, err := bert.New(bert.Config{Model: c.File, Vocabulary: c.Vocabulary, Name: c.Model, Threads: c.Threads})
		return e, nothing, err
	case remote:
		e, err := endpoint.New(ctx, endpoint.Config{
			BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, Dims: c.Dims, Timeout: c.Timeout, Retries: c.Retries,
		})
		return e, nothing, err
	}
	e, err := onnx.New(onnx.Config{
		Library: c.Library, Model: c.File, Vocabulary: c.Vocabulary, Name: c.Model, Threads: c.Threads,
	})
	if err != nil {
		return nil, nil, err
	}
	return e, e.Close, nil
}
