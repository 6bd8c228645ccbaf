// Package encoder turns texts into vectors whose cosine is the similarity of their meanings.
package encoder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Encoder encodes texts. It is safe for concurrent use.
type Encoder interface {
	// Encode returns one vector of length 1 per text, Dims components each, in
	// the order of the texts.
	Encode(ctx context.Context, texts []string) ([][]float32, error)
	// Name distinguishes the vectors of different models; snapshots record it.
	Name() string
	// Dims is the number of components of a vector.
	Dims() int
}

// Family is an encoder beside others: each reads the snapshots whose vectors it made.
type Family interface {
	Encoder
	// ForName returns the encoder of a name. The error says why there is none.
	ForName(ctx context.Context, name string) (Encoder, error)
}

// ForName returns enc or, if enc is a Family, its encoder of a name.
func ForName(ctx context.Context, enc Encoder, name string) (Encoder, error) {
	if enc.Name() == name {
		return enc, nil
	}
	if family, ok := enc.(Family); ok {
		return family.ForName(ctx, name)
	}
	return nil, fmt.Errorf("this retriever runs %q", enc.Name())
}

// ModelFiles are the files of a model.
type ModelFiles struct {
	Weights, Vocabulary []byte
	Tokenizer           *Tokenizer
}

// ReadModel reads an encoder's model and its vocab.txt.
func ReadModel(model, vocabulary string) (f ModelFiles, err error) {
	if f.Vocabulary, err = readAsset("the encoder's vocabulary", vocabulary); err != nil {
		return f, err
	}
	if f.Weights, err = readAsset("the encoder's model", model); err != nil {
		return f, err
	}
	if f.Tokenizer, err = NewTokenizer(bytes.NewReader(f.Vocabulary)); err != nil {
		err = fmt.Errorf("%s: %w", vocabulary, err)
	}
	return f, err
}

// readAsset reads a file of an encoder; role names it in errors.
func readAsset(role, path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w; `triplemesh setup` fetches it", role, err)
	}
	return data, nil
}

// Fingerprint is a short hash of everything that determines an encoder's vectors. It is part of
// the encoder's name: vectors of other files do not mix.
func Fingerprint(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range parts {
		hash.Write(p)
	}
	return hex.EncodeToString(hash.Sum(nil))[:8]
}

// RunParallel calls do for every number below n from at most workers goroutines. The first error
// cancels the others' contexts and is returned.
func RunParallel(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(workers, n) {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := do(ctx, i); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
