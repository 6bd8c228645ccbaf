package sources_test

import (
	"slices"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

func TestTriplesAreAllThatARunShows(t *testing.T) {
	fact := func(object string) *graphv1.Triple {
		return &graphv1.Triple{Subject: "s", Relation: "r", Object: object}
	}
	scored := func(object string) []*graphv1.ScoredTriple { return []*graphv1.ScoredTriple{{Triple: fact(object)}} }
	path := []*graphv1.ReasoningPath{{Entities: []string{"s", "walked"},
		Steps: []*graphv1.RelationStep{{Relation: "r"}}}}
	ger, rag := &orchestratorv1.GerGraphs{ReasoningPaths: path}, &orchestratorv1.RagGraphs{Hits: scored("hit")}
	pgakv := &orchestratorv1.PgAkvGraphs{
		PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{fact("drafted")}}, Hits: scored("hit"),
		GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Triples: scored("ground")}}},
		FixedGraph:  &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{{Triple: fact("fixed")}}},
		Edits:       []*graphv1.Edit{{Evidence: scored("edit")}},
	}
	for _, c := range []struct {
		name string
		run  *orchestratorv1.Run
		want []string
	}{
		{"answers, held back ones and conflicts", &orchestratorv1.Run{
			Answers:   []*orchestratorv1.Answer{{Evidence: []*graphv1.Triple{fact("given")}}},
			Withheld:  []*orchestratorv1.Answer{{Evidence: []*graphv1.Triple{fact("withheld")}}},
			Conflicts: []*orchestratorv1.Conflict{{Triples: []*graphv1.Triple{fact("conflict")}}},
		}, []string{"conflict", "given", "withheld"}},
		{"pg-akv", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_PgAkv{PgAkv: pgakv}},
			[]string{"drafted", "edit", "fixed", "ground", "hit"}},
		{"ger", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Ger{Ger: ger}}, []string{"walked"}},
		{"rag", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rag{Rag: rag}}, []string{"hit"}},
		{"query", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Query{Query: &orchestratorv1.QueryGraphs{
			Table: &graphv1.QueryTable{Rows: []*graphv1.QueryRow{{Triples: []*graphv1.Triple{fact("row")}}}}}}},
			[]string{"row"}},
		{"none", &orchestratorv1.Run{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, triple := range sources.Triples(c.run) {
				got = append(got, triple.GetObject())
			}
			slices.Sort(got)
			if !slices.Equal(slices.Compact(got), c.want) {
				t.Errorf("got %s, want %s", strings.Join(got, ", "), strings.Join(c.want, ", "))
			}
		})
	}
}
