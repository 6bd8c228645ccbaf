package sft

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// triples are a small graph in which the questions below have answers at one hop, at two, and over
// a mediator.
//
//go:embed testdata/films.tsv
var triples string

var questions = []dataset.Question{
	{ID: "q1", Question: "what rivers flow through velmora", Answers: []string{"Tessen", "Orla"},
		TopicEntities: []string{"Velmora"}},
	{ID: "q2", Question: "who directed the films that anna lindqvist acted in", Answers: []string{"Erik Halvorsen",
		"Mia Berg"}, TopicEntities: []string{"Anna Lindqvist"}},
	{ID: "q3", Question: "who is anna lindqvist married to", Answers: []string{"lars holm", "Somebody Else"},
		TopicEntities: []string{"Anna Lindqvist"}},
	{ID: "q4", Question: "who was the first mayor of velmora", Answers: []string{"Reik"},
		TopicEntities: []string{"Velmora"}},
	{ID: "q5", Question: "what is the longest river", Answers: []string{"Nile"}},
	{ID: "q6", Question: "tell me about velmora", Answers: []string{"Velmora is a town."}, Kind: dataset.Open,
		TopicEntities: []string{"Velmora"}},
}

var ref = &graphv1.KnowledgeGraphRef{Name: "small"}

// settings show as much as the stages do by default.
var settings = Settings{Prompts: fakePrompts{}, Candidates: Limits{12, 12}, Verdict: Limits{8, 8},
	Reflection: Limits{8, 8}}

// export makes the examples of questions over the small graph.
func export(t testing.TB, e Exporter, questions []dataset.Question) ([]Example, Summary) {
	t.Helper()
	if e.Retriever == nil {
		e.Retriever = newRetriever(t)
	}
	e.KG, e.Settings, e.MaxHops = ref, settings, 4
	var all []Example
	summary, err := e.Export(t.Context(), questions, func(some []Example) error {
		all = append(all, some...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, summary
}

// lastPrompt returns the last thing a prompt says; what is before it is the same for all
// examples of a task.
func lastPrompt(e Example) string { return e.Messages[len(e.Messages)-2].Content }

func lastAnswer(e Example) string { return e.Messages[len(e.Messages)-1].Content }

// formatExamples writes examples for a golden file.
func formatExamples(examples []Example) string {
	var b strings.Builder
	for _, e := range examples {
		sign := "+"
		if e.Negative {
			sign = "-"
		}
		fmt.Fprintf(&b, "%s %s %s\n%s\n=> %s\n\n", sign, e.Task, e.QuestionID, lastPrompt(e), lastAnswer(e))
	}
	return b.String()
}

func lines(t testing.TB, text string) []Example {
	t.Helper()
	var all []Example
	for read := json.NewDecoder(bytes.NewReader([]byte(text))); read.More(); {
		var e Example
		if err := read.Decode(&e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
