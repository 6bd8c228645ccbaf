package tests

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

const (
	employerQuestion = "What institution employed Robert Stam?"
	studyQuestion    = "At which university did the director of the film Alexander study?"
	yale, tisch      = "University Yale", "New York University Tisch School of the Arts"
)

// scripted is a model that drafts a wrong employer and takes the right one from the facts in its
// input, and that finds one of two universities: reflection adds the other.
func scripted(tb testing.TB) *testkit.LLM {
	tb.Helper()
	model := testkit.NewLLM(tb)
	model.On(testkit.Task("pseudo-graph")).Reply(
		`CREATE (s:Person {name: "Robert Stam"})-[:EMPLOYER]->(:Institution {name: "Google"})`).Usage(100, 20)
	model.On(testkit.Task("answer")).ReplyFunc(func(r testkit.Request) string {
		for _, name := range []string{employer, otherEmployer} {
			if strings.Contains(r.LastUser(), name) {
				return "Robert Stam worked at {" + name + "}."
			}
		}
		return "Robert Stam worked at {Google}."
	}).Usage(60, 10)
	model.On(testkit.Task("claims")).Reply("Robert Stam | employer | Google").Usage(50, 8)
	model.On(testkit.Task("relation-paths")).Reply("director -> educated at\ndirector").Usage(50, 10)
	model.On(testkit.Task("query-plan")).Reply(`Person(name="Robert Stam").get("employer")`).Usage(80, 12)
	model.On(testkit.Task("candidate-answers")).Reply("{"+yale+"}, {New York City}").Usage(80, 12)
	model.On(testkit.Task("evaluate-question")).ReplyJSON(map[string]any{"reason": "a university is missing",
		"correct": false, "incomplete": true}).Usage(40, 15)
	model.On(testkit.Task("evaluate-answer")).ReplyChoice(map[string]float64{"no": .9, "yes": .1}).Usage(30, 1)
	model.On(testkit.Task("evaluate-answer"), testkit.Matches("(?s)"+yale+".*$")).ReplyChoice(
		map[string]float64{"yes": .95, "no": .05}).Usage(30, 1)
	model.On(testkit.Task("reflect")).ReplyJSON(map[string]any{"answers": []string{yale, tisch}}).Usage(70, 20)
	return model
}

// question returns a question to a method over the tests' wikidata.
func question(method string) *orchestratorv1.AskRequest {
	req := &orchestratorv1.AskRequest{Question: employerQuestion, Method: method,
		Kg: &graphv1.KnowledgeGraphRef{Name: wikidata, Snapshot: 1}}
	if method == "ger" {
		req.Question = studyQuestion
	}
	return req
}

// names joins the answers of a run.
func names(run *orchestratorv1.Run) string {
	var all []string
	for _, a := range run.GetAnswers() {
		all = append(all, a.GetAnswer())
	}
	return strings.Join(all, ", ")
}

// show formats a triple on one line.
func show(t *graphv1.Triple) string {
	return strings.Join([]string{t.GetSubject(), t.GetRelation(), t.GetObject()}, " | ")
}
