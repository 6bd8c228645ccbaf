package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// many makes n facts of words that overlap.
func many(n int) []store.Fact {
	r := rand.New(rand.NewPCG(7, 8))
	words := []string{"river", "lake", "Mountain", "city", "bridge", "tower", "queen", "king", "village", "bay"}
	word := func() string { return words[r.IntN(len(words))] }
	facts := make([]store.Fact, n)
	for i := range facts {
		facts[i] = fact(fmt.Sprintf("%s %s %d", word(), word(), r.IntN(n)), "near "+word(),
			fmt.Sprintf("%s %s", word(), word()))
	}
	return facts
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// tolerance is how far a store's cosine may be from the exact one.
const tolerance = 1e-4

func testSearch(t *testing.T, st store.Store) {
	Build(t, st, "many", many(3001))
	s := Open(t, st, "many", 0)
	vectors := map[store.TripleID][]float32{}
	var texts []string
	for _, id := range triples(t, s) {
		text := textOf(s, id)
		texts = append(texts, text)
		vectors[id] = encode(t, text)[0]
	}
	for _, n := range []int{1, 2, 4, 5, 9} {
		queries := encode(t, append([]string{"king of the lake", "a bridge near the bay", "tower 7", "QUEEN",
			"village near city"}, texts[:4]...)[:n]...)
		for _, k := range []int{1, 10, 5000} {
			results, err := s.SearchTriples(t.Context(), queries, k, store.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			if len(results) != n {
				t.Fatalf("%d queries have %d results", n, len(results))
			}
			for q, hits := range results {
				checkHits(t, hits, k, vectors, queries[q])
			}
		}
	}
	queries := encode(t, "king of the lake", "tower 7", "bay")
	testScoring(t, s, queries, vectors)
	testRelationSearch(t, s)
	testSearchInput(t, s, queries)
}

// checkHits compares hits with an exact scan in double precision.
func checkHits(t *testing.T, hits []store.Hit, k int, vectors map[store.TripleID][]float32, query []float32) {
	t.Helper()
	if want := min(k, len(vectors)); len(hits) != want {
		t.Fatalf("%d hits, want %d", len(hits), want)
	}
	exact := map[store.TripleID]float64{}
	for id, v := range vectors {
		exact[id] = cosine(v, query)
	}
	ranked := slices.Sorted(maps.Values(exact))
	slices.Reverse(ranked)
	seen := map[store.TripleID]bool{}
	for i, h := range hits {
		if seen[h.Triple] {
			t.Fatalf("triple %d is found twice", h.Triple)
		}
		seen[h.Triple] = true
		if math.Abs(float64(h.Score)-exact[h.Triple]) > tolerance {
			t.Fatalf("triple %d has score %v, want %v", h.Triple, h.Score, exact[h.Triple])
		}
		if math.Abs(exact[h.Triple]-ranked[i]) > tolerance {
			t.Fatalf("hit %d has cosine %v, an exact scan has %v there", i, exact[h.Triple], ranked[i])
		}
		if i > 0 && (h.Score > hits[i-1].Score || h.Score == hits[i-1].Score && h.Triple < hits[i-1].Triple) {
			t.Fatalf("hit %d is out of order: %v after %v", i, h, hits[i-1])
		}
	}
}

// textOf returns the text that a triple's vector encodes.
func textOf(s store.Snapshot, id store.TripleID) string {
	t := s.Triple(id)
	return kgtext.VerbaliseTriple(s.EntityName(t.Subject), s.RelationName(t.Relation), s.EntityName(t.Object))
}

func testScoring(t *testing.T, s store.Snapshot, queries [][]float32, vectors map[store.TripleID][]float32) {
	all := triples(t, s)
	triples := []store.TripleID{all[5], all[0], all[len(all)-1], all[5], all[77]}
	scores, err := s.ScoreTriples(t.Context(), queries, triples)
	if err != nil {
		t.Fatal(err)
	}
	if len(scores) != len(queries) {
		t.Fatalf("%d rows of scores, want %d", len(scores), len(queries))
	}
	for q, row := range scores {
		if len(row) != len(triples) {
			t.Fatalf("%d scores, want %d", len(row), len(triples))
		}
		for i, id := range triples {
			if want := cosine(queries[q], vectors[id]); math.Abs(float64(row[i])-want) > tolerance {
				t.Errorf("query %d, triple %d: score %v, want %v", q, id, row[i], want)
			}
		}
	}
	if scores, err := s.ScoreTriples(t.Context(), queries, nil); err != nil || len(scores) != len(queries) {
		t.Errorf("no triples to score: %v, error %v", scores, err)
	}
}

func testRelationSearch(t *testing.T, s store.Snapshot) {
	results, err := s.SearchRelations(t.Context(), encode(t, "near bridge"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 1 || len(results[0]) != 3 || s.RelationName(results[0][0].Relation) != "near bridge" {
		t.Errorf("relations near \"near bridge\" are %+v", results)
	}
	for id := range s.Info().Relations {
		if s.RelationTriples(store.RelationID(id)) == 0 {
			continue
		}
		name := s.RelationName(store.RelationID(id))
		if got := cosine(s.RelationVector(store.RelationID(id)),
			encode(t, kgtext.VerbaliseRelationInContext(name))[0]); got < 1-tolerance {
			t.Errorf("the vector of relation %q is not its own: cosine %v", name, got)
		}
	}
}

func testSearchInput(t *testing.T, s store.Snapshot, queries [][]float32) {
	if results, err := s.SearchTriples(t.Context(), nil, 10, store.Filter{}); err != nil || len(results) != 0 {
		t.Errorf("no query: %v, error %v", results, err)
	}
	if results, err := s.SearchTriples(t.Context(), queries, 0, store.Filter{}); err != nil ||
		len(results) != len(queries) || len(results[0]) != 0 {
		t.Errorf("k of 0: %v, error %v", results, err)
	}
	short := [][]float32{make([]float32, Dims-1)}
	if _, err := s.SearchTriples(t.Context(), short, 10, store.Filter{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a query of too few dimensions: %v", err)
	}
	if _, err := s.ScoreTriples(t.Context(), short, []store.TripleID{0}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a query of too few dimensions: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.SearchTriples(cancelled, queries, 10, store.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("search with a cancelled context: %v", err)
	}
	if _, err := s.ScoreTriples(cancelled, queries, []store.TripleID{0}); !errors.Is(err, context.Canceled) {
		t.Errorf("score with a cancelled context: %v", err)
	}
}

// testTies asks for fewer hits than there are equal ones: those with the
// lowest ids must come, every time.
func testTies(t *testing.T, st store.Store) {
	var facts []store.Fact
	for i := range 1500 {
		// Upper and lower case fold to the same vector.
		name := []byte("abcdefghijk")
		for bit := range name {
			if i>>bit&1 == 1 {
				name[bit] -= 'a' - 'A'
			}
		}
		facts = append(facts, fact(string(name), "is", "same"))
	}
	Build(t, st, "ties", facts)
	s := Open(t, st, "ties", 0)
	all := triples(t, s)
	queries := encode(t, "abcdefghijk is same", "something else", "abcdefghijk")
	for range 20 {
		results, err := s.SearchTriples(t.Context(), queries, 7, store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for q, hits := range results {
			for i, h := range hits {
				if h.Triple != all[i] {
					t.Fatalf("query %d: hit %d of equal ones is triple %d", q, i, h.Triple)
				}
			}
		}
	}
}
