package embedded

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// star is a graph without vectors in which n entities point to one hub, each by
// one of three relations.
func star(n int) store.Content {
	return store.Content{
		EntityCount: n + 1, TripleCount: n, Relations: []string{"a", "b", "c"},
		Entities: func(_ context.Context, emit func(store.NamedEntity) error) error {
			for i := range n + 1 {
				if err := emit(store.NamedEntity{Name: fmt.Sprintf("entity number %09d", i)}); err != nil {
					return err
				}
			}
			return nil
		},
		Triples: func(_ context.Context, emit func(store.DatedTriple) error) error {
			for i := range n {
				t := store.Triple{Subject: store.EntityID(i + 1), Relation: store.RelationID(i % 3), Object: 0}
				if err := emit(store.DatedTriple{Triple: t}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func openStar(tb testing.TB, n int) store.Snapshot {
	tb.Helper()
	s := New(tb.TempDir())
	tb.Cleanup(func() { _ = s.Close() })
	info, err := s.Write(tb.Context(), "star", star(n))
	if err != nil {
		tb.Fatal(err)
	}
	snap, err := s.Open(tb.Context(), "star", info.Number)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(snap.Release)
	return snap
}

func TestAHubIsSampledEvenly(t *testing.T) {
	snap := openStar(t, 30_000)
	counts, err := snap.Relations(t.Context(), 0, store.In)
	if want := []store.RelationEdges{{Relation: 0, Edges: 10_000}, {Relation: 1, Edges: 10_000},
		{Relation: 2, Edges: 10_000}}; err != nil || !slices.Equal(counts, want) {
		t.Errorf("counted %v, %v, want %v", counts, err, want)
	}
	edges, err := snap.Sample(t.Context(), 0, store.In, 1, 4)
	if err != nil {
		t.Fatal(err)
	}
	var got []store.EntityID
	for _, e := range edges {
		got = append(got, e.Entity)
	}
	if want := []store.EntityID{2, 7502, 15002, 22502}; !slices.Equal(got, want) {
		t.Errorf("sampled %v, want %v", got, want)
	}
}

// BenchmarkAround looks around a hub of all triples.
func BenchmarkAround(b *testing.B) {
	snap := openStar(b, benchTriples())
	b.Run("count relations", func(b *testing.B) {
		for b.Loop() {
			if _, err := snap.Relations(b.Context(), 0, store.In); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sample 32 edges", func(b *testing.B) {
		for b.Loop() {
			if _, err := snap.Sample(b.Context(), 0, store.In, 1, 32); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read all edges", func(b *testing.B) {
		for b.Loop() {
			if _, err := snap.Edges(b.Context(), []store.EntityID{0}, store.In, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
