package sources_test

import (
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

func fact(kg, subject, relation, object string) *graphv1.Triple {
	return &graphv1.Triple{Subject: subject, Relation: relation, Object: object, KgName: kg}
}

func during(t *graphv1.Triple, start, end string) *graphv1.Triple {
	t.Validity = &graphv1.ValidityInterval{Start: start, End: end}
	return t
}

func mediator(t *graphv1.Triple) *graphv1.Triple {
	t.ObjectKind = graphv1.TermKind_TERM_KIND_MEDIATOR
	return t
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name     string
		evidence []*graphv1.Triple
		want     int
	}{
		{"two cities of birth", []*graphv1.Triple{
			fact("a", "Ada Brandt", "place of birth", "Oslo"), fact("b", "Ada Brandt", "place of birth", "Bergen")}, 1},
		{"relations that are the same in words, and subjects but for their writing", []*graphv1.Triple{
			fact("a", "ada brandt", "place of birth", "Oslo"), fact("b", "Ada Brandt", "people.person.place_of_birth",
				"Bergen")}, 1},
		{"the same object but for case and punctuation", []*graphv1.Triple{
			fact("a", "S", "r", "St. John's"), fact("b", "S", "r", "st john s")}, 0},
		{"a name and a longer form of it", []*graphv1.Triple{
			fact("a", "S", "r", "New York"), fact("b", "S", "r", "New York City")}, 0},
		{"a name in another order", []*graphv1.Triple{
			fact("a", "S", "r", "Brandt, Ada"), fact("b", "S", "r", "Ada Brandt")}, 0},
		{"a year and a day in it", []*graphv1.Triple{
			fact("a", "S", "date of birth", "1961"), fact("b", "S", "date of birth", "4 August 1961")}, 0},
		{"a day in two forms", []*graphv1.Triple{
			fact("a", "S", "r", "1961-08-04T00:00:00Z"), fact("b", "S", "r", "August 4, 1961")}, 0},
		{"a month and a day in another month", []*graphv1.Triple{
			fact("a", "S", "r", "1961-07"), fact("b", "S", "r", "4 August 1961")}, 1},
		{"two days of one month", []*graphv1.Triple{
			fact("a", "S", "r", "1961-08-04"), fact("b", "S", "r", "1961-08-05")}, 1},
		{"a number with and without its unit and separators", []*graphv1.Triple{
			fact("a", "S", "area", "82,350"), fact("b", "S", "area", "82350.0 square kilometre")}, 0},
		{"two numbers", []*graphv1.Triple{
			fact("a", "S", "population", "5000"), fact("b", "S", "population", "7000")}, 1},
		{"numbers in units that cannot be compared", []*graphv1.Triple{
			fact("a", "S", "length", "35 kilometre"), fact("b", "S", "length", "22 mile")}, 0},
		{"a list in one graph contradicts nothing", []*graphv1.Triple{
			fact("a", "S", "genre", "drama"), fact("b", "S", "genre", "comedy"), fact("b", "S", "genre", "musical")},
			0},
		{"the same object twice is no list", []*graphv1.Triple{
			fact("a", "S", "r", "x"), fact("b", "S", "r", "y"), fact("b", "S", "r", "Y")}, 1},
		{"other relations and other subjects", []*graphv1.Triple{
			fact("a", "S", "r", "x"), fact("b", "S", "q", "y"), fact("b", "T", "r", "z")}, 0},
		{"one graph that holds two objects", []*graphv1.Triple{fact("a", "S", "r", "x"), fact("a", "S", "r", "y")}, 0},
		{"facts of different times", []*graphv1.Triple{
			during(fact("a", "S", "mayor", "x"), "1990", "1999"), during(fact("b", "S", "mayor", "y"), "2001", "")}, 0},
		{"facts whose times overlap", []*graphv1.Triple{
			during(fact("a", "S", "mayor", "x"), "1990", "2005"), during(fact("b", "S", "mayor", "y"), "2001", "")}, 1},
		{"facts whose times meet in a year", []*graphv1.Triple{
			during(fact("a", "S", "mayor", "x"), "1990", "2001"), during(fact("b", "S", "mayor", "y"), "2001-05", "")},
			1},
		{"a mediator has no name to compare", []*graphv1.Triple{
			mediator(fact("a", "S", "r", "_:b7")), fact("b", "S", "r", "y")}, 0},
		{"nor has an opaque identifier", []*graphv1.Triple{fact("a", "S", "r", "m.0hpz8tq"), fact("b", "S", "r", "y")},
			0},
		{"a triple without a label, or of which folding leaves nothing", []*graphv1.Triple{
			fact("", "S", "r", "x"), fact("a", "S", "r", "!"), fact("b", "S", "r", "y")}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sources.FindConflicts(c.evidence, []string{"a", "b"}); len(got) != c.want {
				t.Errorf("found %v, want %d", got, c.want)
			}
		})
	}
}

func TestAConflictShowsWhatEachGraphSaysInTheOrderOfTheQuestion(t *testing.T) {
	got := sources.FindConflicts([]*graphv1.Triple{
		fact("c", "S", "x.y.born_in", "Oslo"), fact("b", "S", "born in", "Bergen"), fact("a", "S", "born in", "Oslo"),
	}, []string{"a", "b", "c"})
	if len(got) != 1 {
		t.Fatalf("found %v", got)
	}
	said := ""
	for _, f := range got[0].GetTriples() {
		said += f.GetKgName() + " " + f.GetObject() + "; "
	}
	if got[0].GetSubject() != "S" || got[0].GetRelation() != "born in" || said != "a Oslo; b Bergen; c Oslo; " {
		t.Errorf("found %v", got[0])
	}
}

func TestOfReadsTheEvidenceOfEveryMethod(t *testing.T) {
	a, b := fact("a", "S", "born in", "Oslo"), fact("b", "S", "born in", "Bergen")
	scored := []*graphv1.ScoredTriple{{Triple: a}, {Triple: b}}
	ground := &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Subject: "S", Triples: scored[:1]},
		{Subject: "S", Triples: scored[1:]}}}
	born := []*graphv1.RelationStep{{Relation: "born in"}}
	back := []*graphv1.RelationStep{{Relation: "born in", Inverse: true}}
	paths := []*graphv1.ReasoningPath{
		{Entities: []string{"S", "Oslo"}, Steps: born, KgName: "a"}, {Entities: []string{"Bergen", "S"},
			Steps: back, KgName: "b"},
		{Entities: []string{"S"}, Steps: born, KgName: "b"},
	}
	for _, c := range []struct {
		name string
		run  *orchestratorv1.Run
	}{
		{"pg-akv", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
			GroundGraph: ground}}}},
		{"ger", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
			ReasoningPaths: paths}}}},
		{"rag", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{Hits: scored}}}},
		{"tog", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Tog{Tog: &orchestratorv1.TogGraphs{
			Depths: []*orchestratorv1.TogDepth{{ReasoningPaths: paths[:1]}}, ReasoningPaths: paths[1:]}}}},
		{"rog", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{
			ReasoningPaths: paths}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run.Kg = &graphv1.KnowledgeGraphRef{Name: "a"}
			if got := sources.Conflicts(c.run); got != nil {
				t.Errorf("one knowledge graph contradicts itself: %v", got)
			}
			c.run.OtherKgs = []*graphv1.KnowledgeGraphRef{{Name: "b"}}
			if got := sources.Conflicts(c.run); len(got) != 1 {
				t.Errorf("found %v", got)
			}
		})
	}
}

func FuzzFind(f *testing.F) {
	f.Add("1961-08-04", "4 August 1961", "date of birth")
	f.Add("82,350", "1e309", "a.b.c")
	f.Add("m.0", "", "")
	f.Fuzz(func(t *testing.T, a, b, relation string) {
		both := sources.FindConflicts([]*graphv1.Triple{fact("a", "S", relation, a), fact("b", "S", relation, b)},
			[]string{"a", "b"})
		swapped := sources.FindConflicts([]*graphv1.Triple{fact("a", "S", relation, b), fact("b", "S", relation, a)},
			[]string{"a", "b"})
		if len(both) != len(swapped) {
			t.Errorf("%q and %q conflict one way only", a, b)
		}
		if same := sources.FindConflicts([]*graphv1.Triple{fact("a", "S", relation, a), fact("b", "S", relation, a)},
			[]string{"a", "b"}); len(same) > 0 {
			t.Errorf("%q contradicts itself", a)
		}
	})
}
