package ground

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func newCandidates(owner store.EntityID, priorities ...float32) []candidate {
	var facts []candidate
	for _, p := range priorities {
		facts = append(facts, candidate{owner: owner, priority: p})
	}
	return facts
}

func TestAllot(t *testing.T) {
	lists := [][]candidate{newCandidates(1, 1, .9, .8, .7, .6), newCandidates(1, .9, .8, .8), newCandidates(2, .5, .4),
		newCandidates(2, .2)}
	for _, tt := range []struct {
		name    string
		options Options
		want    []int
	}{
		{"every subject shows its best fact", Options{MaxFacts: 1, MaxList: 9, MaxGap: 9}, []int{1, 0, 1, 0}},
		{"the best list is shown first and in full", Options{MaxFacts: 7, MaxList: 9, MaxGap: 9}, []int{5, 1, 1, 0}},
		{"a list shows no more than its limit", Options{MaxFacts: 7, MaxList: 3, MaxGap: 9}, []int{3, 3, 1, 0}},
		{"lists far from the best show nothing more", Options{MaxFacts: 99, MaxList: 9, MaxGap: .3}, []int{5, 3, 1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &grounding{options: tt.options}
			if got := g.allot(lists); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
	if got := (&grounding{}).allot(nil); len(got) != 0 {
		t.Errorf("no lists are allotted %v", got)
	}
}

func TestRelationWeightShowsTheRelationOfTheQuestion(t *testing.T) {
	g := storetest.NewGraph(
		[3]string{"Tessen", "movie.genre", "organisation drama"}, [3]string{"Tessen", "organisations founded", "Qux"},
		[3]string{"Tessen", "gender", "male"},
	)
	shown := func(weight float32) string {
		options := Default()
		options.MaxFacts, options.MaxGap, options.QuestionWeight, options.RelationWeight = 1, 0, 0, weight
		r, err := Ground(context.Background(), g, &storetest.WordEncoder{}, runStep, "organisations founded",
			[]Fact{{Subject: "Tessen", Relation: "movie.genre", Object: "organisation drama"}}, options)
		if err != nil {
			t.Fatal(err)
		}
		return r.Subjects[0].Facts[0].Object
	}
	if got := shown(0); got != "organisation drama" {
		t.Errorf("by its cosine alone %q is shown", got)
	}
	if got := shown(2); got != "Qux" {
		t.Errorf("%q is shown, want the relation of the question", got)
	}
}

// datedGraph is a graph in which the "twin" triples have a validity.
type datedGraph struct{ *storetest.Graph }

func (g datedGraph) Validity(id store.TripleID) store.Validity {
	if g.RelationName(g.Triple(id).Relation) == "twin" {
		return store.Validity{Start: "1990", End: "1992"}
	}
	return store.Validity{}
}

func (g datedGraph) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	lists, err := g.Graph.SearchTriples(ctx, queries, g.Info().Triples, store.Filter{})
	passes := filter.Matcher(g)
	for i := range lists {
		lists[i] = slices.DeleteFunc(lists[i], func(h store.Hit) bool { return passes != nil && !passes(h.Triple) })
		lists[i] = lists[i][:min(k, len(lists[i]))]
	}
	return lists, err
}

var office = datedGraph{storetest.NewGraph(
	[3]string{"Texas", "governor", "m.0aaaa1"}, [3]string{"m.0aaaa1", "office.holder", "Bush"},
	[3]string{"m.0aaaa1", "office.from", "1995"}, [3]string{"m.0aaaa1", "office.to", "2000"},
	[3]string{"Texas", "governor", "m.0aaaa2"}, [3]string{"m.0aaaa2", "office.holder", "Perry"},
	[3]string{"m.0aaaa2", "office.from", "2000"},
	[3]string{"Texas", "twin", "Utah"}, [3]string{"Texas", "capital", "Austin"},
)}

func governors(t *testing.T, options Options) map[string]store.Validity {
	t.Helper()
	options.MaxGap = 2
	r, err := Ground(context.Background(), office, &storetest.WordEncoder{}, runStep, "Who was governor of Texas?",
		[]Fact{{Subject: "Texas", Relation: "governor", Object: "Ann Richards"}}, options)
	if err != nil {
		t.Fatal(err)
	}
	when := map[string]store.Validity{}
	for _, s := range r.Subjects {
		for _, f := range s.Facts {
			if !strings.Contains(f.Relation, "office.from") && !strings.Contains(f.Relation, "office.to") {
				when[f.Object] = f.Validity
			}
		}
	}
	return when
}

func TestJoinedFactsHaveTheValidityOfTheirMediator(t *testing.T) {
	when := governors(t, Default())
	for object, want := range map[string]store.Validity{
		"Bush": {Start: "1995", End: "2000"}, "Perry": {Start: "2000"}, "Utah": {Start: "1990", End: "1992"},
		"Austin": {},
	} {
		if got, ok := when[object]; !ok || got != want {
			t.Errorf("%s: %+v (there: %v), want %+v", object, got, ok, want)
		}
	}
}

func TestADateFiltersJoinedFactsAndFactsAround(t *testing.T) {
	options := Default()
	options.Filter.At = "1997"
	when := governors(t, options)
	for object, want := range map[string]bool{"Bush": true, "Austin": true, "Perry": false, "Utah": false} {
		if _, got := when[object]; got != want {
			t.Errorf("%s there: %v, want %v", object, got, want)
		}
	}
}

func TestFiltersApplyToFactsOfNamedEntities(t *testing.T) {
	options := Default()
	options.Filter.Relations = []store.RelationID{office.RelationID("capital")}
	when := governors(t, options)
	if _, ok := when["Austin"]; !ok || len(when) != 1 {
		t.Errorf("found %v, want Austin alone", when)
	}
}

func TestFactsOfAHubAreReadByRelevance(t *testing.T) {
	var triples [][3]string
	for i := range 500 {
		triples = append(triples, [3]string{"Norway", "contains", fmt.Sprintf("fjord %d", i)})
	}
	g := storetest.NewGraph(append(triples, [3]string{"Norway", "zz.capital", "Oslo"})...)
	counted := &countingGraph{Graph: g}
	options := Default()
	options.MaxRead = 20
	r, err := Ground(context.Background(), counted, &storetest.WordEncoder{}, runStep, "what is the capital",
		[]Fact{{Subject: "Norway", Relation: "capital", Object: "Bergen"}}, options)
	if err != nil {
		t.Fatal(err)
	}
	if got := evidence(r); !slices.Contains(got, "Norway | zz.capital | Oslo") {
		t.Errorf("evidence %q lacks the capital", got)
	}
	if most := 20 + 10*4; counted.scored > most {
		t.Errorf("%d facts scored, want %d at most", counted.scored, most)
	}
}

// countingGraph counts the scored triples.
type countingGraph struct {
	*storetest.Graph
	scored int
}

func (r *countingGraph) ScoreTriples(ctx context.Context, queries [][]float32,
	triples []store.TripleID) ([][]float32, error) {
	r.scored += len(triples)
	return r.Graph.ScoreTriples(ctx, queries, triples)
}
