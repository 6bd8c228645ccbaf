package storetest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// HashEncoder returns an encoder for tests that need no meaning: a text's vector is
// the bag of its character trigrams, hashed to dims places, so that texts that
// look alike have vectors that are alike. It is deterministic.
func HashEncoder(dims int) encoder.Encoder { return hashEncoder(dims) }

type hashEncoder int

func (h hashEncoder) Name() string { return fmt.Sprintf("test-hash-%d", int(h)) }

func (h hashEncoder) Dims() int { return int(h) }

func (h hashEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = h.vector(text)
	}
	return vectors, nil
}

func (h hashEncoder) vector(text string) []float32 {
	v := make([]float32, int(h))
	for _, gram := range trigrams(store.Fold(text)) {
		// Fibonacci hashing; the lowest bit of the upper half gives the sign.
		mixed := uint64(gram) * 0x9E3779B97F4A7C15 >> 32
		if mixed&1 == 0 {
			v[mixed>>1%uint64(h)]++
		} else {
			v[mixed>>1%uint64(h)]--
		}
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		v[0] = 1
		return v
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// trigram is three neighbouring characters of a folded name, 21 bits each.
type trigram uint64

// trigrams returns the distinct trigrams of a folded name in ascending order.
// Two spaces before and one after make beginnings count for more.
func trigrams(folded string) []trigram {
	if folded == "" {
		return nil
	}
	grams := make([]trigram, 0, len(folded)+1)
	window := trigram(' ')<<21 | ' '
	push := func(r rune) {
		window = (window<<21 | trigram(r)) & (1<<63 - 1)
		grams = append(grams, window)
	}
	for _, r := range folded {
		push(r)
	}
	push(' ')
	slices.Sort(grams)
	return slices.Compact(grams)
}
