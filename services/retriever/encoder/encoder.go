// Package encoder turns texts into vectors whose cosine says how alike their
// meanings are.
package encoder

import "context"

// Encoder encodes texts. It is safe for concurrent use.
type Encoder interface {
	// Encode returns one vector of length 1 per text, Dims components each, in
	// the order of the texts.
	Encode(ctx context.Context, texts []string) ([][]float32, error)
	// Name tells one model's vectors from another's; snapshots record it.
	Name() string
	// Dims is how many components a vector has.
	Dims() int
}
