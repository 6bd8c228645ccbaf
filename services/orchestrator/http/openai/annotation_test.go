package openai

import (
	"crypto/tls"
	"encoding/json"
	"net/http/httptest"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestWhere(t *testing.T) {
	for _, c := range []struct {
		name, answer, content string
		start, end            int
	}{
		{"at its first place, in characters", "Åse", "«Öst»: Åse, Åse", 7, 10},
		{"everywhere, where it stands in other words", "Erik", "er war es", 0, 9},
		{"everywhere, where there is no answer", "", "abc", 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if start, end := locate(c.answer, c.content); start != c.start || end != c.end {
				t.Errorf("got %d to %d, want %d to %d", start, end, c.start, c.end)
			}
		})
	}
}

func TestAnnotationsSayWhichKnowledgeGraphAndWhen(t *testing.T) {
	fact := func(kg string, when *graphv1.ValidityInterval) *graphv1.Triple {
		return &graphv1.Triple{Subject: "Velmora", Relation: "mayor", Object: "Åse", KgName: kg, Validity: when}
	}
	run := &orchestratorv1.Run{Kg: &graphv1.KnowledgeGraphRef{Name: "cities", Snapshot: 1},
		Answers: []*orchestratorv1.Answer{
			{Answer: "Åse", Evidence: []*graphv1.Triple{fact("", &graphv1.ValidityInterval{Start: "1998"}),
				fact("other", nil)}}, {Answer: "Orla"},
		}}
	got := annotate("Åse, Orla", run, "page")
	if len(got) != 2 || got[0].Triple.KG != "cities" || got[0].Triple.Validity.Start != "1998" ||
		got[1].Triple.KG != "other" || got[1].Triple.Validity != nil {
		t.Errorf("got %+v", got)
	}
	// No annotation is an empty list, which clients go through, and not null.
	if none, err := json.Marshal(annotate("x", &orchestratorv1.Run{}, "page")); err != nil || string(none) != "[]" {
		t.Errorf("got %s, %v", none, err)
	}
}

func TestAnnotationsHaveIDsAndProvenance(t *testing.T) {
	mayor := &graphv1.Triple{Subject: "Velmora", SubjectId: "http://kg.example/velmora", Relation: "mayor",
		Object: "Åse", ObjectId: "http://kg.example/åse", Provenance: "http://kg.example/statement/1"}
	want := cited{Subject: "Velmora", SubjectID: "http://kg.example/velmora", Relation: "mayor", Object: "Åse",
		ObjectID: "http://kg.example/åse", Provenance: "http://kg.example/statement/1", Answer: "Åse",
		AnswerID: "http://kg.example/åse"}
	for name, run := range map[string]*orchestratorv1.Run{
		"of an answer": {Answers: []*orchestratorv1.Answer{{Answer: "Åse", Id: "http://kg.example/åse",
			Evidence: []*graphv1.Triple{mayor}}}},
		"of a text": {Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
			FixedGraph: &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{
				{Triple: mayor, Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := annotate("Åse is mayor of Velmora.", run, "page")
			if len(got) != 1 || got[0].Triple != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
			if got[0].URLCitation.URL != "page" {
				t.Errorf("the citation links to %s, which a graph's author chose", got[0].URLCitation.URL)
			}
		})
	}
}

func TestPageOf(t *testing.T) {
	run := &orchestratorv1.Run{Id: "01M8"}
	r := httptest.NewRequest("POST", "http://mesh.example:9080/v1/chat/completions", nil)
	if got := pageOf(r, run); got != "http://mesh.example:9080/#/runs/01M8" {
		t.Errorf("got %s", got)
	}
	r.Header.Set("X-Forwarded-Proto", "https")
	if got := pageOf(r, run); got != "https://mesh.example:9080/#/runs/01M8" {
		t.Errorf("behind a proxy: %s", got)
	}
	r.Header.Del("X-Forwarded-Proto")
	r.TLS = &tls.ConnectionState{}
	if got := pageOf(r, run); got != "https://mesh.example:9080/#/runs/01M8" {
		t.Errorf("by TLS: %s", got)
	}
}
