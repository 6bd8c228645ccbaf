package encoder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/encoder/endpoint"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/onnx"
)

// Kinds of encoder.
const (
	// ONNX runs the model in process.
	ONNX = "onnx"
	// Endpoint asks an OpenAI-compatible /embeddings.
	Endpoint = "endpoint"
)

// Config says which encoder to use.
type Config struct {
	// Kind is "onnx" or "endpoint".
	Kind string `koanf:"kind"`
	// Model is the model's name. An endpoint must know it; in process it names
	// the vectors only.
	Model string `koanf:"model"`

	// LibraryPath, ModelPath and VocabPath are the files of "onnx".
	LibraryPath string `koanf:"library_path"`
	ModelPath   string `koanf:"model_path"`
	VocabPath   string `koanf:"vocab_path"`
	// Threads is how many cores "onnx" may use; 0 takes all.
	Threads int `koanf:"threads"`

	// BaseURL of the endpoint, "/v1" included where it has one.
	BaseURL string `koanf:"base_url"`
	// APIKey for BaseURL; empty where the endpoint wants none.
	APIKey string `koanf:"api_key"`
	// Dims is the length of the endpoint's vectors; 0 asks it.
	Dims int `koanf:"dims"`
	// BatchSize is how many texts go into one request, Timeout is for one
	// request, Retries is how often a failed one is repeated.
	BatchSize int           `koanf:"batch_size"`
	Timeout   time.Duration `koanf:"timeout"`
	Retries   int           `koanf:"retries"`
}

// DefaultConfig is the encoder that `triplemesh setup` fetches; In says where
// to.
func DefaultConfig() Config {
	return Config{
		Kind: ONNX, Model: "all-MiniLM-L6-v2",
		BatchSize: 64, Timeout: 30 * time.Second, Retries: 3,
	}
}

// In sets the paths that are not set to where `triplemesh setup` puts the
// files within its cache.
func (c Config) In(cache string) Config {
	for path, place := range map[*string]string{
		&c.LibraryPath: filepath.Join("onnxruntime", "libonnxruntime.so"),
		&c.ModelPath:   filepath.Join("encoder", "model.onnx"),
		&c.VocabPath:   filepath.Join("encoder", "vocab.txt"),
	} {
		if *path == "" {
			*path = filepath.Join(cache, place)
		}
	}
	return c
}

// Open makes the encoder that cfg asks for. The caller must call release when
// it is no longer used.
func Open(ctx context.Context, cfg Config) (enc Encoder, release func() error, err error) {
	switch cfg.Kind {
	case ONNX:
		e, err := onnx.New(onnx.Config{
			Library: cfg.LibraryPath, Model: cfg.ModelPath, Vocabulary: cfg.VocabPath,
			Name: cfg.Model, Threads: cfg.Threads,
		})
		if err != nil {
			return nil, nil, fmt.Errorf("open encoder: %w", err)
		}
		return e, e.Close, nil
	case Endpoint:
		e, err := endpoint.New(ctx, endpoint.Config{
			BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, Model: cfg.Model, Dims: cfg.Dims,
			BatchSize: cfg.BatchSize, Timeout: cfg.Timeout, Retries: cfg.Retries,
		})
		if err != nil {
			return nil, nil, fmt.Errorf("open encoder: %w", err)
		}
		return e, func() error { return nil }, nil
	}
	return nil, nil, fmt.Errorf("open encoder: kind %q is not known: %w", cfg.Kind, errors.New(`encoder.kind must be "onnx" or "endpoint"`))
}
