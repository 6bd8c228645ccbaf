package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func testNames(t *testing.T, st store.Store) {
	Build(t, st, "world", World())
	s := Open(t, st, "world", 0)
	for _, name := range []string{"Paris", "PARIS", "São Paulo", "Sao Paulo", "東京", "Europe"} {
		if got := s.EntityName(entity(t, s, name)); got != name {
			t.Errorf("entity %q comes back as %q", name, got)
		}
	}
	for _, name := range []string{"", "paris", "Pari", "Pariss", "located in", "\xff", "zzz"} {
		if id, ok, err := s.Entity(t.Context(), name); ok || err != nil {
			t.Errorf("entity %q is not there: got %d, found %v, error %v", name, id, ok, err)
		}
	}
	for name, want := range map[string]int{"located in": 6, "capital of": 1, "head of government": 2} {
		id := relation(t, s, name)
		if got := s.RelationName(id); got != name {
			t.Errorf("relation %q comes back as %q", name, got)
		}
		if got := s.RelationTriples(id); got != want {
			t.Errorf("relation %q has %d triples, want %d", name, got, want)
		}
	}
	if _, ok, err := s.Relation(t.Context(), "Paris"); ok || err != nil {
		t.Errorf("an entity's name is no relation: found %v, error %v", ok, err)
	}
	seen := map[string]bool{}
	last := ""
	for id := range s.Entities() {
		name := s.EntityName(id)
		if seen[name] || name <= last {
			t.Errorf("entity %q comes after %q", name, last)
		}
		seen[name], last = true, name
	}
	if len(seen) != s.Info().Entities {
		t.Errorf("%d entities come, info counts %d", len(seen), s.Info().Entities)
	}
}

func testMatching(t *testing.T, st store.Store) {
	Build(t, st, "world", World(), [2]string{"東京", "Tokyo"}, [2]string{"Paris", "City of Light"})
	s := Open(t, st, "world", 0)
	for key, want := range map[string][]string{
		"paris":         {"PARIS", "Paris"},
		"sao paulo":     {"Sao Paulo", "São Paulo"},
		"tokyo":         {"東京"},
		"city of light": {"Paris"},
		"東京":            {"東京"},
		"Paris":         {},
		"atlantis":      {},
		"":              {},
	} {
		ids, err := s.Match(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(ids) {
			t.Errorf("match %q: %v are not in the order of their ids", key, ids)
		}
		got := entityNames(s, ids)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("match %q: got %v, want %v", key, got, want)
		}
	}
	testFuzzy(t, s)
}

func testFuzzy(t *testing.T, s store.Snapshot) {
	names := func(key string, min float32, limit int) []string {
		matches, err := s.Fuzzy(t.Context(), key, min, limit)
		if err != nil {
			t.Fatal(err)
		}
		var ids []store.EntityID
		for i, m := range matches {
			if m.Similarity < min || m.Similarity > 1 {
				t.Errorf("fuzzy %q: %q has similarity %v, want %v to 1", key, s.EntityName(m.Entity), m.Similarity, min)
			}
			if i > 0 && (m.Similarity > matches[i-1].Similarity || m.Similarity == matches[i-1].Similarity &&
				m.Entity <= matches[i-1].Entity) {
				t.Errorf("fuzzy %q: %v is out of order", key, matches)
			}
			ids = append(ids, m.Entity)
		}
		return entityNames(s, ids)
	}
	if got := names("sao paolo", 0.5, 10); len(got) != 2 || store.Fold(got[0]) != "sao paulo" {
		t.Errorf("a misspelling finds %v, want both spellings of Sao Paulo", got)
	}
	if got := names("tokyo", 0.9, 10); !slices.Equal(got, []string{"東京"}) {
		t.Errorf("an alias finds %v, want 東京", got)
	}
	if got := names("paris", 0.1, 2); len(got) != 2 || store.Fold(got[0]) != "paris" || store.Fold(got[1]) != "paris" {
		t.Errorf("a limit of 2 finds %v, want both entities named Paris", got)
	}
	for _, nothing := range []string{"", "qqqqqq"} {
		if got := names(nothing, 0.3, 10); len(got) != 0 {
			t.Errorf("%q finds %v, want nothing", nothing, got)
		}
	}
	if got := names("paris", 0.1, 0); len(got) != 0 {
		t.Errorf("a limit of 0 finds %v", got)
	}
}

func testFacts(t *testing.T, st store.Store) {
	facts := World()
	number := Build(t, st, "world", facts)
	s := Open(t, st, "world", number)
	info := s.Info()
	if info.KG != "world" || !info.TripleVectors || info.Number != number || info.Triples != len(facts) ||
		info.Encoder != Encoder().Name() || info.Dims != Dims || info.Relations != 6 {
		t.Errorf("info is %+v", info)
	}
	if info.Bytes <= 0 || info.Created.IsZero() {
		t.Errorf("info has no size or no time: %+v", info)
	}
	want := map[string]store.Validity{}
	for _, f := range facts {
		want[f.Subject.Name+" | "+f.Relation+" | "+f.Object.Name] = f.Validity
	}
	for _, id := range triples(t, s) {
		validity, ok := want[show(s, id)]
		if !ok {
			t.Errorf("triple %d, %s, was not loaded or is there twice", id, show(s, id))
		}
		if got := s.Validity(id); got != validity {
			t.Errorf("%s holds %+v, want %+v", show(s, id), got, validity)
		}
		delete(want, show(s, id))
	}
	if len(want) > 0 {
		t.Errorf("triples are missing: %v", want)
	}
}

func testWalking(t *testing.T, st store.Store) {
	Build(t, st, "world", World())
	s := Open(t, st, "world", 0)
	paris, france, eater := entity(t, s, "Paris"), entity(t, s, "France"), entity(t, s, "Ouroboros")
	in := relation(t, s, "located in")
	capital := relation(t, s, "capital of")
	for _, c := range []struct {
		name      string
		from      []store.EntityID
		dir       store.Direction
		relations []store.RelationID
		want      [][]string
	}{
		{"all edges out", []store.EntityID{paris, eater}, store.Out, nil,
			[][]string{{"France", "Anne Hidalgo", "Bertrand Delanoë", "Europe", "France"}, {"Ouroboros"}}},
		{"all edges in", []store.EntityID{france}, store.In, nil, [][]string{{"Paris", "Lyon", "Paris"}}},
		{"one relation", []store.EntityID{paris, france, paris}, store.Out, []store.RelationID{in},
			[][]string{{"Europe", "France"}, {"Europe"}, {"Europe", "France"}}},
		{"two relations, named twice and out of order", []store.EntityID{paris}, store.Out,
			[]store.RelationID{in, capital, in}, [][]string{{"France", "Europe", "France"}}},
		{"no relation at all", []store.EntityID{paris}, store.Out, []store.RelationID{}, [][]string{{}}},
		{"a relation that the entity lacks", []store.EntityID{eater}, store.In, []store.RelationID{in}, [][]string{{}}},
		{"no entity", nil, store.Out, nil, [][]string{}},
	} {
		lists, err := s.Edges(t.Context(), c.from, c.dir, c.relations)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if len(lists) != len(c.want) {
			t.Fatalf("%s: %d lists, want %d", c.name, len(lists), len(c.want))
		}
		for i, edges := range lists {
			checkEdges(t, s, c.name, c.from[i], c.dir, edges)
			ends := []string{}
			for _, e := range edges {
				ends = append(ends, s.EntityName(e.Entity))
			}
			// Their order is that of numbers, which checkEdges looks at.
			slices.Sort(ends)
			slices.Sort(c.want[i])
			if !slices.Equal(ends, c.want[i]) {
				t.Errorf("%s: edges of %s end in %q, want %q", c.name, s.EntityName(c.from[i]), ends, c.want[i])
			}
			if c.relations == nil && s.Degree(c.from[i], c.dir) != len(edges) {
				t.Errorf("%s: degree %d, want %d", c.name, s.Degree(c.from[i], c.dir), len(edges))
			}
		}
	}
	testAround(t, s, paris, in)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Edges(cancelled, []store.EntityID{paris}, store.Out, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("walking for a caller who is gone: %v", err)
	}
}

// testAround counts and samples edges without reading them all; that counts are
// those of the edges is looked at for every entity of every snapshot, by Dump.
func testAround(t *testing.T, s store.Snapshot, from store.EntityID, relation store.RelationID) {
	for _, c := range []struct {
		name string
		most int
		want []string
	}{
		{"all there are", 2, []string{"Europe", "France"}},
		{"no more than there are", 100, []string{"Europe", "France"}},
		{"as many as are wanted", 1, []string{"Europe"}},
		{"none", 0, []string{}},
	} {
		edges, err := s.Sample(t.Context(), from, store.Out, relation, c.most)
		if err != nil {
			t.Fatalf("sample %s: %v", c.name, err)
		}
		checkEdges(t, s, "sample "+c.name, from, store.Out, edges)
		var ends []store.EntityID
		for _, e := range edges {
			ends = append(ends, e.Entity)
		}
		if got := entityNames(s, ends); !slices.Equal(got, c.want) {
			t.Errorf("sample %s: got %q, want %q", c.name, got, c.want)
		}
	}
	eater := entity(t, s, "Ouroboros")
	if edges, err := s.Sample(t.Context(), eater, store.In, relation, 5); err != nil || len(edges) != 0 {
		t.Errorf("a relation that the entity lacks gives %v, %v", edges, err)
	}
}

// checkEdges compares edges with their triples and looks at their order.
func checkEdges(t *testing.T, s store.Snapshot, name string, from store.EntityID, dir store.Direction,
	edges []store.Edge) {
	t.Helper()
	for i, e := range edges {
		triple := s.Triple(e.Triple)
		here, there := triple.Subject, triple.Object
		if dir == store.In {
			here, there = there, here
		}
		if here != from || there != e.Entity || triple.Relation != e.Relation {
			t.Errorf("%s: edge %+v is not its triple %+v", name, e, triple)
		}
		if i > 0 && (e.Relation < edges[i-1].Relation || e.Relation == edges[i-1].Relation &&
			e.Triple <= edges[i-1].Triple) {
			t.Errorf("%s: edges %v are out of order", name, edges)
		}
	}
}
