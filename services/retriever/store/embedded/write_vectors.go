package embedded

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// writeVectors writes the vectors of relations and triples, where there are
// any.
func (b *build) writeVectors(ctx context.Context) error {
	if b.dims == 0 {
		return nil
	}
	if err := b.write(relVectorFile, func(w io.Writer) error {
		for i, v := range b.content.RelationVectors {
			if err := checkVector(v, b.dims); err != nil {
				return fmt.Errorf("relation %q: %w", b.content.Relations[i], err)
			}
			if _, err := w.Write(asBytes(v)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if b.content.TripleVectors == nil {
		return nil
	}
	to, err := b.vectorWriter(b.dims)
	if err != nil {
		return err
	}
	n := 0
	if err := b.content.TripleVectors(ctx, func(v []float32) error {
		if n == b.own.Triples {
			return announced("vectors of triples", n+1, n)
		}
		if err := checkVector(v, b.dims); err != nil {
			return fmt.Errorf("triple %d: %w", n, err)
		}
		n++
		return to.Add(v)
	}); err != nil {
		return err
	}
	if err := announced("vectors of triples", n, b.own.Triples); err != nil {
		return err
	}
	return to.close()
}

// checkVector refuses vectors that would spoil every comparison.
func checkVector(v []float32, dims int) error {
	if len(v) != dims {
		return fmt.Errorf("vector has %d components, want %d: %w", len(v), dims, store.ErrInvalid)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(math.Abs(sum-1) < 1e-3) {
		return fmt.Errorf("vector has length %.4g, want 1: %w", math.Sqrt(sum), store.ErrInvalid)
	}
	return nil
}
