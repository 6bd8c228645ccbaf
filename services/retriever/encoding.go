package retriever

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/bert"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/onnx"
	"github.com/triplemesh/triplemesh/services/retriever/vectorcache"
)

// Kinds of encoder.
const (
	// encoderAuto runs the faster of onnx and int8 on this machine.
	encoderAuto = "auto"
	// encoderONNX runs a model in process with ONNX Runtime.
	encoderONNX = "onnx"
	// encoderInt8 runs the same model in process on 8-bit integers: faster, with nearly the same
	// vectors, and without ONNX Runtime.
	encoderInt8 = "int8"
	// encoderEndpoint uses an OpenAI-compatible embeddings endpoint.
	encoderEndpoint = "endpoint"
)

// EncoderConfig selects the encoder of knowledge graphs that are loaded. Vectors of different encoders
// do not mix: a knowledge graph is read with the encoder that it was loaded with, which is opened when
// it is needed.
type EncoderConfig struct {
	// Kind is "onnx" or "int8", both in process, "auto", which takes the faster of these on this
	// machine, or "endpoint".
	Kind string `koanf:"kind"`
	// Library, Vocabulary and File are ONNX Runtime's shared library and the model's vocab.txt and
	// ONNX file. "onnx" uses all three, "int8" the last two, and "auto" the first if it is there.
	Library    string `koanf:"library"`
	Vocabulary string `koanf:"vocabulary"`
	File       string `koanf:"file"`
	// Model is the model's name; for "endpoint" the name that the endpoint uses.
	Model string `koanf:"model"`
	// Threads is the number of cores that encode; 0 means all. Not for "endpoint".
	Threads int `koanf:"threads"`
	// BaseURL and APIKey of an OpenAI-compatible endpoint, including "/v1" if it has one.
	BaseURL string `koanf:"base_url"`
	APIKey  string `koanf:"api_key"`
	// Dims is the length of the endpoint's vectors; 0 asks the endpoint at startup.
	Dims int `koanf:"dims"`
	// Timeout is the timeout of one request to the endpoint, Retries the number of retries.
	Timeout time.Duration `koanf:"timeout"`
	Retries int           `koanf:"retries"`
	// Cache is the on-disk cache of vectors.
	Cache VectorCacheConfig `koanf:"cache"`
}

// VectorCacheConfig configures the on-disk cache, which holds hashes of texts and their vectors, of
// any encoder.
type VectorCacheConfig struct {
	// Dir is the directory, which one process has at a time; others encode without it. Empty disables
	// the cache.
	Dir string `koanf:"dir"`
	// MaxBytes is its maximum size; beyond it the oldest vectors are evicted. 0 means 4 GiB.
	MaxBytes int64 `koanf:"max_bytes"`
}

func defaultEncoder() EncoderConfig {
	return EncoderConfig{
		Kind:       encoderAuto,
		Library:    ".cache/onnxruntime/libonnxruntime.so",
		Vocabulary: ".cache/encoder/vocab.txt",
		File:       ".cache/encoder/model.onnx",
		Model:      "all-MiniLM-L6-v2",
		Timeout:    30 * time.Second,
		Retries:    2,
	}
}

func (c EncoderConfig) validate() error {
	if kinds := []string{encoderAuto, encoderONNX, encoderInt8, encoderEndpoint}; !slices.Contains(kinds, c.Kind) {
		return fmt.Errorf("encoder.kind is %q; want one of %q", c.Kind, kinds)
	}
	if c.Cache.MaxBytes < 0 {
		return fmt.Errorf("encoder.cache.max_bytes is %d; want 0 or more", c.Cache.MaxBytes)
	}
	return nil
}

// newEncoder returns the encoder, behind its cache if it has one, and a function that closes it.
func newEncoder(ctx context.Context, c EncoderConfig, log *slog.Logger) (_ encoder.Encoder, _ func() error, err error) {
	s := &encoderSet{config: c, log: log, opened: map[string]openedEncoder{}}
	if c.Cache.Dir != "" {
		s.cache, err = vectorcache.Open(c.Cache.Dir, vectorcache.Options{MaxBytes: c.Cache.MaxBytes, Logger: log})
		if err != nil {
			return nil, nil, err
		}
	}
	kind := c.Kind
	switch {
	case kind == encoderAuto && !onnx.Supported:
		kind = encoderInt8
	case kind == encoderAuto:
		kind = s.chooseFaster(ctx)
	}
	opened := s.open(ctx, kind)
	if opened.err != nil {
		return nil, nil, errors.Join(opened.err, s.close())
	}
	s.Encoder = opened.Encoder
	return s, s.close, nil
}

// encoderSet is the encoder of what is loaded and, opened when a snapshot needs them, the other
// encoders in process. It implements encoder.Family.
type encoderSet struct {
	encoder.Encoder
	config EncoderConfig
	log    *slog.Logger
	cache  *vectorcache.Cache // nil for none

	mutex  sync.Mutex
	opened map[string]openedEncoder // by kind
}

// openedEncoder is an encoder or why it cannot be opened.
type openedEncoder struct {
	encoder.Encoder
	close func() error
	err   error
}

// ForName implements encoder.Family.
func (s *encoderSet) ForName(ctx context.Context, name string) (encoder.Encoder, error) {
	if s.Name() == name {
		return s.Encoder, nil
	}
	kind := ""
	switch {
	case strings.HasPrefix(name, s.config.Model+"-int8@"):
		kind = encoderInt8
	case strings.HasPrefix(name, s.config.Model+"@"):
		kind = encoderONNX
	default:
		return nil, fmt.Errorf("this retriever runs %q and other kinds of the model %s", s.Name(), s.config.Model)
	}
	e := s.open(ctx, kind)
	if e.err == nil && e.Name() != name {
		e.err = fmt.Errorf("the files at hand make %q", e.Name())
	}
	return e.Encoder, e.err
}

// open opens the encoder of a kind, once.
func (s *encoderSet) open(ctx context.Context, kind string) openedEncoder {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e, ok := s.opened[kind]
	if !ok {
		e.Encoder, e.close, e.err = newModel(ctx, s.config, kind)
		if e.err == nil && s.cache != nil {
			e.Encoder = s.cache.Encoder(e.Encoder)
		}
		s.opened[kind] = e
	}
	return e
}

// discard closes an encoder; it is opened again when a snapshot needs it.
func (s *encoderSet) discard(kind string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if e := s.opened[kind]; e.err == nil {
		_ = e.close()
		delete(s.opened, kind)
	}
}

func (s *encoderSet) close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var errs []error
	if s.cache != nil {
		errs = append(errs, s.cache.Close())
	}
	for _, e := range s.opened {
		if e.err == nil {
			errs = append(errs, e.close())
		}
	}
	clear(s.opened)
	return errors.Join(errs...)
}

// minSpeedup is how many times faster than fp32 int8 must be to be chosen: its vectors are rounded,
// and two that are about as fast must not take turns from start to start. The best of measuredRounds
// counts.
const minSpeedup, measuredRounds = 1.5, 4

// chooseFaster returns the kind that encodes faster on this machine, by its instructions: int8 with
// AVX-512 VNNI. It measures both on the words of triples, and returns the only one that can be opened
// if there is one.
func (s *encoderSet) chooseFaster(ctx context.Context) string {
	rates := map[string]float64{}
	for range measuredRounds { // in turns, so that other work of the machine slows both
		for _, kind := range []string{encoderInt8, encoderONNX} {
			rate, err := s.measureRate(ctx, kind)
			if err != nil {
				s.log.DebugContext(ctx, logEncoderNotMeasured, "kind", kind, "error", err)
			}
			rates[kind] = max(rates[kind], rate)
		}
	}
	kind, other := encoderONNX, encoderInt8
	if rates[encoderInt8] > minSpeedup*rates[encoderONNX] {
		kind, other = other, kind
	}
	s.discard(other)
	s.log.InfoContext(ctx, logEncoderChosen, "kind", kind, "int8_texts_per_second", int(rates[encoderInt8]),
		"onnx_texts_per_second", int(rates[encoderONNX]))
	return kind
}

// measureRate returns the texts that the encoder of a kind encodes per second, 0 if it fails.
func (s *encoderSet) measureRate(ctx context.Context, kind string) (float64, error) {
	e := s.open(ctx, kind)
	if e.err != nil {
		return 0, e.err
	}
	texts := make([]string, 32)
	for i := range texts {
		texts[i] = fmt.Sprintf("Mount Everest elevation above sea level %d metres", 8000+i)
	}
	start := time.Now()
	if _, err := e.Encode(ctx, texts); err != nil {
		return 0, err
	}
	return float64(len(texts)) / time.Since(start).Seconds(), nil
}

// newModel returns the encoder of a kind without the cache.
func newModel(ctx context.Context, c EncoderConfig, kind string) (encoder.Encoder, func() error, error) {
	nothing := func() error { return nil }
	switch kind {
	case encoderInt8:
		e, err := bert.New(bert.Config{Model: c.File, Vocabulary: c.Vocabulary, Name: c.Model, Threads: c.Threads})
		return e, nothing, err
	case encoderEndpoint:
		e, err := encoder.OpenEndpoint(ctx, encoder.EndpointConfig{
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
