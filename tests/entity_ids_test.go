package tests

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// namesakes are two people of one name, each born in a city of its own.
const namesakes = `<http://kg.example/Q1> <http://kg.example/place_of_birth> ` +
	`<http://kg.example/Q585> <http://kg.example/north> .
<http://kg.example/Q2> <http://kg.example/place_of_birth> <http://kg.example/Q26793> .
<http://kg.example/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "Ada Brandt"@en .
<http://kg.example/Q2> <http://www.w3.org/2000/01/rdf-schema#label> "Ada Brandt"@en .
<http://kg.example/Q585> <http://www.w3.org/2000/01/rdf-schema#label> "Oslo"@en .
<http://kg.example/Q26793> <http://www.w3.org/2000/01/rdf-schema#label> "Bergen"@en .
`

func TestEntityIDsReachTheAnswer(t *testing.T) {
	m := start(t, options{data: t.TempDir(), model: births(t),
		set: map[string]string{"reflector.reflection.mode": "weigh"}})
	kg := &graphv1.KnowledgeGraphRef{Name: "people"}
	if _, err := testkit.Load(t.Context(), m.graphs, &retrieverv1.LoadHeader{Kg: kg, Provenance: true},
		&retrieverv1.FileHeader{Name: "people.nq"}, []byte(namesakes)); err != nil {
		t.Fatal(err)
	}
	const ada1, ada2 = "Ada Brandt (Q1)", "Ada Brandt (Q2)"
	const q1, q2, oslo, bergen = "http://kg.example/Q1", "http://kg.example/Q2", "http://kg.example/Q585",
		"http://kg.example/Q26793"
	for name, c := range map[string]struct {
		method, topic    string
		subject, id      string
		answer, answerID string
		provenance       string
	}{
		"ger from the id of one":       {"ger", q1, ada1, q1, "Oslo", oslo, ""},
		"ger from the id of the other": {"ger", q2, ada2, q2, "Bergen", bergen, ""},
		"ger from the name of one":     {"ger", ada1, ada1, q1, "Oslo", oslo, ""},
		"rog from an id":               {"rog", q2, ada2, q2, "Bergen", bergen, ""},
		"tog from an id":               {"tog", q1, ada1, q1, "Oslo", oslo, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run := m.ask(t, &orchestratorv1.AskRequest{Question: bornQuestion, Method: c.method, Kg: kg,
				TopicEntities: []string{c.topic}})
			if a := run.GetAnswers(); len(a) != 1 || a[0].GetAnswer() != c.answer || a[0].GetId() != c.answerID {
				t.Fatalf("the answers are %v, want %s with the id %s", a, c.answer, c.answerID)
			}
			e := run.GetAnswers()[0].GetEvidence()
			if len(e) != 1 || e[0].GetSubject() != c.subject || e[0].GetSubjectId() != c.id ||
				e[0].GetObjectId() != c.answerID {
				t.Errorf("the evidence is %v, want a triple of %s with its ids", e, c.subject)
			}
			var links []*graphv1.EntityLink
			for _, g := range [][]*graphv1.EntityLink{run.GetGer().GetTopicEntities(), run.GetRog().GetTopicEntities(),
				run.GetTog().GetTopicEntities()} {
				links = append(links, g...)
			}
			if len(links) != 1 || links[0].GetEntity() != c.subject || links[0].GetEntityId() != c.id ||
				links[0].GetMention() != c.topic {
				t.Errorf("the topic entities are %v, want %s with its id", links, c.subject)
			}
			stored, err := m.orchestrator.GetRun(t.Context(), &orchestratorv1.GetRunRequest{Id: run.GetId()})
			if err != nil || stored.GetRun().GetAnswers()[0].GetId() != c.answerID {
				t.Errorf("the stored run is %v, %v", stored, err)
			}
		})
	}
	t.Run("pg-akv", func(t *testing.T) {
		run := m.ask(t, &orchestratorv1.AskRequest{Question: bornQuestion, Method: "pg-akv", Kg: kg})
		for _, a := range run.GetAnswers() {
			if want := map[string]string{"Oslo": oslo, "Bergen": bergen}[a.GetAnswer()]; a.GetId() != want ||
				want == "" {
				t.Errorf("the answer is %v", a)
			}
		}
		var found []string
		for _, s := range run.GetPgAkv().GetGroundGraph().GetSubjects() {
			for _, scored := range s.GetTriples() {
				e := scored.GetTriple()
				found = append(found, s.GetSubjectId()+" "+e.GetSubjectId()+" "+e.GetObjectId()+" "+e.GetProvenance())
			}
		}
		slices.Sort(found)
		want := []string{q1 + " " + q1 + " " + oslo + " http://kg.example/north",
			q2 + " " + q2 + " " + bergen + " people.nq:2"}
		if !slices.Equal(found, want) {
			t.Errorf("the ground graph has %q, want %q", found, want)
		}
	})
}
