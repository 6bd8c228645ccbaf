package embedded

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// BenchmarkSearch searches 60,000 vectors of 384 dimensions, the size of the
// bundled sample, for the 10 nearest to each query.
func BenchmarkSearch(b *testing.B) {
	const rows, dims = 60_000, 384
	r := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, dims)
		var sum float64
		for i := range v {
			v[i] = float32(r.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	content := store.Content{
		Entities: store.All([]store.Named{{Name: "a"}}), EntityCount: 1, Relations: []string{"r"},
		Triples: store.All(make([]store.Dated, rows)), TripleCount: rows,
		Encoder: "none", Dims: dims, RelationVectors: [][]float32{vector()},
		TripleVectors: func(_ context.Context, emit func([]float32) error) error {
			for range rows {
				if err := emit(vector()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	s := New(b.TempDir())
	defer s.Close()
	if _, err := s.Write(b.Context(), "bench", content); err != nil {
		b.Fatal(err)
	}
	snapshot, err := s.Open(b.Context(), "bench", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer snapshot.Release()
	for _, n := range []int{1, 4, 8, 16} {
		queries := make([][]float32, n)
		for i := range queries {
			queries[i] = vector()
		}
		b.Run(fmt.Sprintf("queries=%d", n), func(b *testing.B) {
			b.SetBytes(rows * dims * 4)
			for b.Loop() {
				if _, err := snapshot.SearchTriples(b.Context(), queries, 10, store.Filter{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
