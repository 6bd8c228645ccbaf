package storetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// edit changes what a sequence returns.
func edit[T any](t *testing.T, each *store.Stream[T], change func([]T) []T) {
	t.Helper()
	var all []T
	if err := (*each)(t.Context(), func(v T) error { all = append(all, v); return nil }); err != nil {
		t.Fatal(err)
	}
	*each = store.SliceStream(change(all))
}

func testContent(t *testing.T, st store.Store) {
	for name, spoil := range map[string]func(*store.Content){
		"no triple": func(c *store.Content) {
			c.Triples, c.TripleCount = store.SliceStream[store.DatedTriple](nil), 0
		},
		"a triple out of order": func(c *store.Content) {
			edit(t, &c.Triples, func(all []store.DatedTriple) []store.DatedTriple { slices.Reverse(all); return all })
		},
		"an entity that is not": func(c *store.Content) {
			edit(t, &c.Triples, func(all []store.DatedTriple) []store.DatedTriple { all[0].Object = 1000; return all })
		},
		"fewer triples than it says": func(c *store.Content) {
			edit(t, &c.Triples, func(all []store.DatedTriple) []store.DatedTriple { return all[1:] })
		},
		"entities out of order": func(c *store.Content) {
			edit(t, &c.Entities, func(all []store.NamedEntity) []store.NamedEntity { slices.Reverse(all); return all })
		},
		"more entities than it says": func(c *store.Content) { c.EntityCount-- },
		"an alias of nothing": func(c *store.Content) {
			c.Aliases = store.SliceStream([]store.Alias{{Entity: 1000, Name: "x"}})
		},
		"too few relation vectors":  func(c *store.Content) { c.RelationVectors = c.RelationVectors[1:] },
		"a relation vector of zero": func(c *store.Content) { c.RelationVectors[1] = make([]float32, Dims) },
		"a vector that is too long": func(c *store.Content) { emitting(c, make([]float32, Dims+1)) },
		"a vector of NaN": func(c *store.Content) {
			emitting(c, slices.Repeat([]float32{float32(math.NaN())}, Dims))
		},
		"no vector": func(c *store.Content) {
			c.TripleVectors = func(context.Context, func([]float32) error) error { return nil }
		},
		"no dimensions": func(c *store.Content) { c.Dims = 0 },
	} {
		content := Content(t, World())
		spoil(&content)
		if _, err := st.Write(t.Context(), "spoilt", content); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("content with %s: error is %v", name, err)
		}
	}
	for _, kg := range []string{"", "Upper", "1st", "a/b", "..", "a b", "ä"} {
		if _, err := st.Write(t.Context(), kg, Content(t, World())); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a knowledge graph named %q: error is %v", kg, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := st.Write(cancelled, "spoilt", Content(t, World())); !errors.Is(err, context.Canceled) {
		t.Errorf("building for a caller who is gone: %v", err)
	}
	if listed, err := st.List(t.Context(), ""); err != nil || len(listed) != 0 {
		t.Errorf("after failures only, the list holds %v, error %v", listed, err)
	}
}

func emitting(c *store.Content, v []float32) {
	c.TripleVectors = func(_ context.Context, emit func([]float32) error) error { return emit(v) }
}

// activeAndAll lists a knowledge graph's snapshots and the active one.
func activeAndAll(t *testing.T, st store.Store, kg string) (active uint64, all []uint64) {
	t.Helper()
	listed, err := st.List(t.Context(), kg)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listed {
		if l.KG != kg {
			t.Errorf("the list of %s names %s", kg, l.KG)
		}
		if l.Active {
			active = l.Number
		}
		all = append(all, l.Number)
	}
	return active, all
}

func testCatalogue(t *testing.T, st store.Store) {
	ctx := t.Context()
	if _, err := st.Open(ctx, "world", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("open what was never loaded: %v", err)
	}
	info, err := st.Write(ctx, "world", Content(t, World()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Open(ctx, "world", 0); !errors.Is(err, store.ErrNoActive) {
		t.Errorf("open the active snapshot where none is: %v", err)
	}
	Open(t, st, "world", info.Number)
	first := info.Number
	if _, err := st.Activate(ctx, "world", first); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Rollback(ctx, "world"); !errors.Is(err, store.ErrNoPrevious) {
		t.Errorf("roll back the first snapshot: %v", err)
	}
	second := Build(t, st, "world", many(10))
	third := Build(t, st, "world", many(20))
	Build(t, st, "alone", many(5))
	if first >= second || second >= third {
		t.Errorf("numbers do not rise: %d, %d, %d", first, second, third)
	}
	check := func(doing string, wantActive uint64, want ...uint64) {
		t.Helper()
		if active, all := activeAndAll(t, st, "world"); active != wantActive || !slices.Equal(all, want) {
			t.Errorf("%s: %d of %v is active, want %d of %v", doing, active, all, wantActive, want)
		}
		if got := Open(t, st, "world", 0).Info().Number; got != wantActive {
			t.Errorf("%s: open gives %d, want %d", doing, got, wantActive)
		}
	}
	check("after three loads", third, third, second, first)
	for _, want := range []uint64{second, first} {
		if info, err := st.Rollback(ctx, "world"); err != nil || info.Number != want {
			t.Errorf("roll back to %d: got %d, error %v", want, info.Number, err)
		}
		check("after a rollback", want, third, second, first)
	}
	if _, err := st.Activate(ctx, "world", third); err != nil {
		t.Error(err)
	}
	if _, err := st.Drop(ctx, "world", third); !errors.Is(err, store.ErrActive) {
		t.Errorf("drop the active snapshot: %v", err)
	}
	check("after a refused drop", third, third, second, first)
	if dropped, err := st.Drop(ctx, "world", first); err != nil || !slices.Equal(dropped, []uint64{first}) {
		t.Errorf("drop %d: %v, error %v", first, dropped, err)
	}
	check("after a drop", third, third, second)
	if _, err := st.Rollback(ctx, "world"); !errors.Is(err, store.ErrNoPrevious) {
		t.Errorf("roll back to a snapshot that was dropped: %v", err)
	}
	if info, bytes, err := st.Verify(ctx, "world", 0); err != nil || info.Number != third || bytes <= 0 {
		t.Errorf("verify: snapshot %d, %d bytes, error %v", info.Number, bytes, err)
	}
	testUnknown(t, st)
	if all, err := st.List(ctx, ""); err != nil || len(all) != 3 || all[0].KG != "alone" {
		t.Errorf("the whole list is %v, error %v", all, err)
	}
	if dropped, err := st.Drop(ctx, "world", 0); err != nil || !slices.Equal(dropped, []uint64{third, second}) {
		t.Errorf("drop the knowledge graph: %v, error %v", dropped, err)
	}
	if _, err := st.Open(ctx, "world", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("open what was dropped: %v", err)
	}
}

// testUnknown names an entity or relation that does not exist in every call.
func testUnknown(t *testing.T, st store.Store) {
	ctx := t.Context()
	for _, at := range []struct {
		kg     string
		number uint64
	}{{"nowhere", 0}, {"nowhere", 1}, {"world", 99}} {
		calls := map[string]func() error{
			"open":   func() error { _, err := st.Open(ctx, at.kg, at.number); return err },
			"drop":   func() error { _, err := st.Drop(ctx, at.kg, at.number); return err },
			"verify": func() error { _, _, err := st.Verify(ctx, at.kg, at.number); return err },
		}
		if at.number > 0 {
			calls["activate"] = func() error { _, err := st.Activate(ctx, at.kg, at.number); return err }
		} else {
			calls["list"] = func() error { _, err := st.List(ctx, at.kg); return err }
			calls["roll back"] = func() error { _, err := st.Rollback(ctx, at.kg); return err }
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s %s@%d: error is %v", name, at.kg, at.number, err)
			}
		}
	}
}

// testLifetime reads a snapshot that was dropped while it was open.
func testLifetime(t *testing.T, st store.Store) {
	Build(t, st, "world", World())
	s, err := st.Open(t.Context(), "world", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Drop(t.Context(), "world", 0); err != nil {
		t.Fatal(err)
	}
	paris := entity(t, s, "Paris")
	if edges, err := s.Edges(t.Context(), []store.EntityID{paris}, store.Out, nil); err != nil || len(edges[0]) != 5 {
		t.Errorf("edges of a dropped snapshot that is open: %v, error %v", edges, err)
	}
	if hits, err := s.SearchTriples(t.Context(), encode(t, "Paris capital of France"), 1, store.Filter{}); err != nil ||
		show(s, hits[0][0].Triple) != "Paris | capital of | France" {
		t.Errorf("search in a dropped snapshot that is open: %v, error %v", hits, err)
	}
	name := s.EntityName(paris)
	s.Release()
	s.Release()
	if name != "Paris" {
		t.Errorf("a name changed after the release: %q", name)
	}
}

// testConcurrency reads, loads, switches and drops at once. The race detector
// and the counts of the readers find errors.
func testConcurrency(t *testing.T, st store.Store) {
	Build(t, st, "world", World())
	want := len(World())
	ctx := t.Context()
	queries := encode(t, "Paris capital of France")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 30 {
				s, err := st.Open(ctx, "world", 0)
				if err != nil {
					t.Errorf("open while others load: %v", err)
					return
				}
				hits, err := s.SearchTriples(ctx, queries, 2, store.Filter{})
				if err != nil || len(hits[0]) != 2 || s.Info().Triples != want {
					t.Errorf("search while others load: %v, error %v, %d triples", hits, err, s.Info().Triples)
				}
				s.Release()
			}
		})
	}
	contents := []store.Content{Content(t, World()), Content(t, World())}
	for _, content := range contents {
		group.Go(func() {
			for range 5 {
				info, err := st.Write(ctx, "world", content)
				if err == nil {
					_, err = st.Activate(ctx, "world", info.Number)
				}
				if err != nil {
					t.Errorf("load while others read: %v", err)
					return
				}
				// Another load may have been activated in between or not.
				if _, err := st.Drop(ctx, "world", info.Number); err != nil && !errors.Is(err, store.ErrActive) {
					t.Errorf("drop while others read: %v", err)
				}
			}
		})
	}
	group.Wait()
}

// testActivation switches between two snapshots while others read: each reader
// sees one of them, whole.
func testActivation(t *testing.T, st store.Store) {
	first := Build(t, st, "world", World())
	second := Build(t, st, "world", World()[:5])
	want := map[uint64]string{first: dump(t, Open(t, st, "world", first)),
		second: dump(t, Open(t, st, "world", second))}
	done := make(chan struct{})
	var readers, switcher sync.WaitGroup
	switcher.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if _, err := st.Activate(t.Context(), "world", []uint64{first, second}[i%2]); err != nil {
				t.Errorf("activate while others read: %v", err)
				return
			}
		}
	})
	for range 4 {
		readers.Go(func() {
			for range 10 {
				s, err := st.Open(t.Context(), "world", 0)
				if err != nil {
					t.Errorf("open while another is activated: %v", err)
					return
				}
				if got, err := Dump(t.Context(), s); err != nil || got != want[s.Info().Number] {
					t.Errorf("snapshot %d shows\n%s, %v", s.Info().Number, got, err)
				}
				s.Release()
			}
		})
	}
	readers.Wait()
	close(done)
	switcher.Wait()
}
