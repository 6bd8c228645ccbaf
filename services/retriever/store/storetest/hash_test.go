package storetest

import (
	"math"
	"slices"
	"testing"
)

func TestHash(t *testing.T) {
	enc := HashEncoder(64)
	vectors, err := enc.Encode(t.Context(), []string{"capital of France", "the capital of France", "deep sea diving",
		"CAPITAL of, france", "", "?"})
	if err != nil {
		t.Fatal(err)
	}
	cosine := func(a, b int) float64 {
		var sum float64
		for i := range vectors[a] {
			sum += float64(vectors[a][i]) * float64(vectors[b][i])
		}
		return sum
	}
	for i := range vectors {
		if len(vectors[i]) != 64 || math.Abs(cosine(i, i)-1) > 1e-5 {
			t.Errorf("vector %d has %d components and length %v", i, len(vectors[i]), math.Sqrt(cosine(i, i)))
		}
	}
	if cosine(0, 1) < .7 || cosine(0, 2) > .5 {
		t.Errorf("texts that look alike have cosine %v, others %v", cosine(0, 1), cosine(0, 2))
	}
	if !slices.Equal(vectors[0], vectors[3]) {
		t.Error("case and punctuation change the vector")
	}
	if enc.Name() != "test-hash-64" || enc.Dims() != 64 {
		t.Errorf("it is named %s and has %d dims", enc.Name(), enc.Dims())
	}
}

func TestTrigrams(t *testing.T) {
	for folded, want := range map[string]int{"": 0, "a": 2, "ab": 3, "abab": 5, "aaaa": 4, "São Paulo": 10} {
		grams := trigrams(folded)
		if len(grams) != want || !slices.IsSorted(grams) {
			t.Errorf("%q has %d trigrams, want %d, ascending", folded, len(grams), want)
		}
	}
}
