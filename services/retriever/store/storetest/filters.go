package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// testKinds stores one entity of each kind.
func testKinds(t *testing.T, st store.Store) {
	var facts []store.Fact
	want := map[string]store.Kind{"thing": store.Entity}
	for kind := store.Entity; kind <= store.Date; kind++ {
		name := fmt.Sprintf("end %d", kind)
		want[name] = kind
		facts = append(facts, store.Fact{Subject: namedEntity("thing"), Relation: "has",
			Object: store.NamedEntity{Name: name, Kind: kind}})
	}
	Build(t, st, "kinds", facts)
	s := Open(t, st, "kinds", 0)
	for name, kind := range want {
		if got := s.Kind(entity(t, s, name)); got != kind {
			t.Errorf("%q is of kind %d, want %d", name, got, kind)
		}
	}
}

// testFilters compares filtered searches with the unfiltered one.
func testFilters(t *testing.T, st store.Store) {
	facts := many(700)
	for i := range facts {
		if i%3 == 0 {
			facts[i].Validity = store.Validity{Start: fmt.Sprint(1990 + i%20), End: fmt.Sprint(2000 + i%20)}
		}
	}
	Build(t, st, "many", facts)
	s := Open(t, st, "many", 0)
	all := triples(t, s)
	subjects := []store.EntityID{s.Triple(all[500]).Subject, s.Triple(all[3]).Subject, s.Triple(all[4]).Subject,
		s.Triple(all[3]).Object}
	relations := []store.RelationID{relation(t, s, "near lake"), relation(t, s, "near bay"), 1000}
	queries := encode(t, "king of the lake", "tower 7", "bay")
	complete, err := s.SearchTriples(t.Context(), queries, len(all), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for name, filter := range map[string]store.Filter{
		"some subjects":  {Subjects: subjects},
		"no subject":     {Subjects: []store.EntityID{}},
		"some relations": {Relations: relations},
		"no relation":    {Relations: []store.RelationID{}},
		"a date":         {At: "2004-02"},
		"subjects, relations and a date": {Subjects: slices.Concat(subjects, subjects), Relations: relations,
			At: "1999"},
	} {
		passes := filter.Matcher(s)
		for _, k := range []int{1, 5, len(all)} {
			got, err := s.SearchTriples(t.Context(), queries, k, filter)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for q := range queries {
				var want []store.Hit
				for _, h := range complete[q] {
					if passes(h.Triple) && len(want) < k {
						want = append(want, h)
					}
				}
				if !slices.Equal(got[q], want) {
					t.Errorf("%s, %d best of query %d: got %v, want %v", name, k, q, got[q], want)
				}
			}
		}
	}
}

// testNoVectors stores triples without vectors, with and without those of
// relations.
func testNoVectors(t *testing.T, st store.Store) {
	bare := Content(t, World())
	bare.TripleVectors = nil
	none := Content(t, World())
	none.TripleVectors, none.RelationVectors, none.Encoder, none.Dims = nil, nil, "", 0
	for _, c := range []struct {
		kg      string
		content store.Content
	}{{"bare", bare}, {"none", none}} {
		kg, content := c.kg, c.content
		info, err := st.Write(t.Context(), kg, content)
		if err != nil {
			t.Fatal(err)
		}
		s := Open(t, st, kg, info.Number)
		if info := s.Info(); info.TripleVectors || info.Dims != content.Dims || info.Encoder != content.Encoder ||
			info.Triples != len(World()) {
			t.Errorf("%s: info is %+v", kg, info)
		}
		queries := encode(t, "Paris")
		if _, err := s.SearchTriples(t.Context(), queries, 3, store.Filter{}); !errors.Is(err, store.ErrNoVectors) {
			t.Errorf("%s: search answers %v", kg, err)
		}
		if _, err := s.ScoreTriples(t.Context(), queries, []store.TripleID{0}); !errors.Is(err, store.ErrNoVectors) {
			t.Errorf("%s: scoring answers %v", kg, err)
		}
		hits, err := s.SearchRelations(t.Context(), queries, 3)
		vector := s.RelationVector(0)
		if content.Dims > 0 && (err != nil || len(hits[0]) != 3 || len(vector) != Dims) {
			t.Errorf("%s: relations found are %v, %v, a vector has %d dimensions", kg, hits, err, len(vector))
		}
		if content.Dims == 0 && (!errors.Is(err, store.ErrNoVectors) || vector != nil) {
			t.Errorf("%s: relations found are %v, %v, a vector is %v", kg, hits, err, vector)
		}
		if edges, err := s.Edges(t.Context(), []store.EntityID{entity(t, s, "Paris")}, store.Out, nil); err != nil ||
			len(edges[0]) != 5 {
			t.Errorf("%s: edges are %v, %v", kg, edges, err)
		}
	}
}
