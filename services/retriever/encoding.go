package retriever

import (
	"context"
	"fmt"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/endpoint"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/onnx"
)

// The kinds of encoder.
const (
	// inProcess runs a model by ONNX Runtime in this process.
	inProcess = "onnx"
	// remote asks an OpenAI-compatible embeddings endpoint.
	remote = "endpoint"
)

// EncoderConfig chooses the encoder. Vectors of two encoders do not mix: a
// knowledge graph is read with the encoder it was loaded with.
type EncoderConfig struct {
	// Kind is "onnx", in process, or "endpoint".
	Kind string `koanf:"kind"`
	// Library, Vocabulary and File are ONNX Runtime's shared library and the
	// model's vocab.txt and ONNX file; for "onnx".
	Library    string `koanf:"library"`
	Vocabulary string `koanf:"vocabulary"`
	File       string `koanf:"file"`
	// Model is the model's name; for "endpoint" as the endpoint knows it.
	Model string `koanf:"model"`
	// Threads is how many cores encode at once; 0 takes all. For "onnx".
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
	if c.Kind != inProcess && c.Kind != remote {
		return fmt.Errorf("encoder.kind is %q; want %q or %q", c.Kind, inProcess, remote)
	}
	return nil
}

// newEncoder makes the encoder and says how to let go of it.
func newEncoder(ctx context.Context, c EncoderConfig) (encoder.Encoder, func() error, error) {
	if c.Kind == remote {
		e, err := endpoint.New(ctx, endpoint.Config{
			BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, Dims: c.Dims, Timeout: c.Timeout, Retries: c.Retries,
		})
		return e, func() error { return nil }, err
	}
	e, err := onnx.New(onnx.Config{
		Library: c.Library, Model: c.File, Vocabulary: c.Vocabulary, Name: c.Model, Threads: c.Threads,
	})
	if err != nil {
		return nil, nil, err
	}
	return e, e.Close, nil
}
