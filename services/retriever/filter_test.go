package retriever

import (
	"context"
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// dated is a graph in which the Rhine flowed into the North Sea until 1900.
type dated struct{ *storetest.Graph }

func (d dated) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	_, err := d.Graph.Open(ctx, kg, number)
	return d, err
}

func (d dated) Validity(id store.TripleID) store.Validity {
	if d.RelationName(d.Triple(id).Relation) == "mouth" {
		return store.Validity{End: "1900"}
	}
	return store.Validity{}
}

func (d dated) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	lists, err := d.Graph.SearchTriples(ctx, queries, d.Graph.Info().Triples, store.Filter{})
	passes := filter.Matcher(d)
	for i := range lists {
		lists[i] = slices.DeleteFunc(lists[i], func(h store.Hit) bool { return passes != nil && !passes(h.Triple) })
		lists[i] = lists[i][:min(k, len(lists[i]))]
	}
	return lists, err
}

// unvectored is a graph whose triples have no vectors.
type unvectored struct{ *storetest.Graph }

func (u unvectored) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	_, err := u.Graph.Open(ctx, kg, number)
	return u, err
}

func (u unvectored) Info() store.Info {
	info := u.Graph.Info()
	info.TripleVectors = false
	return info
}

func (u unvectored) SearchTriples(context.Context, [][]float32, int, store.Filter) ([][]store.Hit, error) {
	return nil, store.ErrNoVectors
}

func (u unvectored) ScoreTriples(context.Context, [][]float32, []store.TripleID) ([][]float32, error) {
	return nil, store.ErrNoVectors
}

var filters = map[string]struct {
	filter *retrieverv1.Filter
	// passes reports whether a triple passes the filter; some, whether any does.
	passes func(*graphv1.Triple) bool
	some   bool
}{
	"no filter takes all": {nil, func(*graphv1.Triple) bool { return true }, true},
	"subjects limit subjects": {&retrieverv1.Filter{Subjects: []string{"Rhine", "Nile"}},
		func(t *graphv1.Triple) bool { return t.GetSubject() == "Rhine" }, true},
	"relations limit relations": {&retrieverv1.Filter{Relations: []string{"capital"}},
		func(t *graphv1.Triple) bool { return t.GetRelation() == "capital" }, true},
	"an unknown subject matches nothing":  {&retrieverv1.Filter{Subjects: []string{"Nile"}}, nil, false},
	"an unknown relation matches nothing": {&retrieverv1.Filter{Relations: []string{"depth"}}, nil, false},
	"a date takes what held then": {&retrieverv1.Filter{At: "1850-01"},
		func(*graphv1.Triple) bool { return true }, true},
	"and leaves out what did not": {&retrieverv1.Filter{At: "1950"},
		func(t *graphv1.Triple) bool { return t.GetRelation() != "mouth" }, true},
}

func TestFiltersApplyToAllResults(t *testing.T) {
	for setup, graphs := range map[string]storetest.GraphReader{"with vectors": dated{rivers()},
		"without": unvectoredDated{unvectored{rivers()}}} {
		client := dial(t, graphs, &storetest.WordEncoder{})
		for name, tt := range filters {
			t.Run(setup+", "+name, func(t *testing.T) {
				searched, err := client.SearchTriples(t.Context(), &retrieverv1.SearchTriplesRequest{
					Kg: kg, Queries: []string{"mouth of the Rhine", "capital of Germany"}, Filter: tt.filter,
				})
				if err != nil {
					t.Fatal(err)
				}
				grounded, err := client.GroundGraph(t.Context(), &retrieverv1.GroundGraphRequest{
					Kg: kg, Question: "What is the mouth of the Rhine?",
					Options: &retrieverv1.GroundingOptions{Filter: tt.filter, MinConfidence: new(float32)},
					PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{{Subject: "Germany",
						Relation: "capital", Object: "Bonn"}}},
				})
				if err != nil {
					t.Fatal(err)
				}
				var hits, evidence []*graphv1.ScoredTriple
				for _, r := range searched.GetResults() {
					hits = append(hits, r.GetTriples()...)
				}
				for _, s := range grounded.GetGroundGraph().GetSubjects() {
					evidence = append(evidence, s.GetTriples()...)
				}
				for what, found := range map[string][]*graphv1.ScoredTriple{"search": hits, "hits": grounded.GetHits(),
					"ground graph": evidence} {
					if (len(found) > 0) != tt.some {
						t.Errorf("%s: %d triples, want some: %v", what, len(found), tt.some)
					}
					if i := slices.IndexFunc(found,
						func(s *graphv1.ScoredTriple) bool { return !tt.passes(s.GetTriple()) }); i >= 0 {
						t.Errorf("%s: %q does not pass", what, line(found[i].GetTriple()))
					}
				}
			})
		}
	}
}

// unvectoredDated is both.
type unvectoredDated struct{ unvectored }

func (u unvectoredDated) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	_, err := u.unvectored.Open(ctx, kg, number)
	return u, err
}

func (u unvectoredDated) Validity(id store.TripleID) store.Validity {
	return dated{u.Graph}.Validity(id)
}

func TestGraphsWithoutVectorsAreSearchedByNames(t *testing.T) {
	g := rivers()
	client := dial(t, unvectored{g}, &storetest.WordEncoder{})
	searched, err := client.SearchTriples(t.Context(), &retrieverv1.SearchTriplesRequest{Kg: kg,
		Queries: []string{"Rhine mouth North Sea"}, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := line(searched.GetResults()[0].GetTriples()[0].GetTriple()); got != "Rhine | mouth | North Sea" {
		t.Errorf("the nearest triple is %q", got)
	}
	grounded, err := client.GroundGraph(t.Context(), &retrieverv1.GroundGraphRequest{Kg: kg,
		Question: "Where is the mouth of the Rhine?"})
	if err != nil {
		t.Fatal(err)
	}
	subjects := grounded.GetGroundGraph().GetSubjects()
	if len(subjects) == 0 || line(subjects[0].GetTriples()[0].GetTriple()) != "Rhine | mouth | North Sea" {
		t.Errorf("ground graph %v", grounded.GetGroundGraph())
	}
	if g.Released != 2 {
		t.Errorf("the snapshot was released %d times, want 2", g.Released)
	}
}
