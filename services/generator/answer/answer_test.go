package answer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/answer"
)

// model is a completer made of a function.
type model func(llm.Request) (llm.Response, error)

func (m model) Complete(_ context.Context, req llm.Request) (llm.Response, error) { return m(req) }

func TestWrite(t *testing.T) {
	broken := errors.New("connection reset")
	for _, c := range []struct {
		name     string
		resp     llm.Response
		err      error
		text     string
		entities []string
		warned   string
		fails    error
	}{
		{"entities stand in braces", llm.Response{Text: " It was {Erik Halvorsen}. \n"}, nil,
			"It was {Erik Halvorsen}.", []string{"Erik Halvorsen"}, "", nil},
		{"a short line without braces is the answer", llm.Response{Text: "Bergen."}, nil, "Bergen.", []string{"Bergen"},
			"", nil},
		{"of longer prose without braces no answer is guessed",
			llm.Response{Text: strings.Repeat("It may have been in Norway. ", 4)}, nil,
			strings.TrimSpace(strings.Repeat("It may have been in Norway. ", 4)), nil, llm.WarnUnusable, nil},
		{"a short line that says that there is none is no answer",
			llm.Response{Text: "Her number is not provided in the facts."}, nil,
			"Her number is not provided in the facts.", nil, llm.WarnUnusable, nil},
		{"signs that say nothing are no answer", llm.Response{Text: "— ?"}, nil, "— ?", nil, llm.WarnUnusable, nil},
		{"an answer that was cut is used, with a warning", llm.Response{Text: "{Tessen} and {Or",
			FinishReason: "length"}, nil, "{Tessen} and {Or", []string{"Tessen", "Or"}, llm.WarnTruncated, nil},
		{"what came of an answer that broke off is used, with a warning", llm.Response{Text: "{Tessen} a"}, broken,
			"{Tessen} a", []string{"Tessen"}, llm.WarnTruncated, nil},
		{"an answer that never came is an error", llm.Response{}, broken, "", nil, "", broken},
		{"nothing usable is no answer, with a warning", llm.Response{}, llm.ErrUnusable, "", nil, llm.WarnUnusable,
			nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := model(func(llm.Request) (llm.Response, error) { return c.resp, c.err })
			got, err := answer.New(m, answer.DefaultConfig()).Write(t.Context(),
				answer.Request{Question: "q"}, llm.NewLedger(nil))
			if !errors.Is(err, c.fails) {
				t.Fatal(err)
			}
			warned := ""
			for _, w := range got.Warnings {
				warned += w.GetCode()
			}
			if got.Text != c.text || !slices.Equal(got.Entities, c.entities) || warned != c.warned {
				t.Errorf("got %q %q with %q, want %q %q with %q", got.Text, got.Entities, warned, c.text,
					c.entities, c.warned)
			}
		})
	}
}

// A weak model answers with the names of an example where it finds nothing.
func TestWhatTheExamplesNameIsNoAnswer(t *testing.T) {
	facts := &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{
		{Triple: &graphv1.Triple{Subject: "Halden", Relation: "river", Object: "Orla"},
			Status: graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED}}}
	for _, c := range []struct {
		question, written, text string
		entities                []string
	}{
		{"Which rivers are there?", "They are {Tessen} and {Orla}.", "", nil},
		{"Which rivers are there?", "They are {Tessen} and {Glomma}.", "They are {Tessen} and {Glomma}.",
			[]string{"Glomma"}},
		{"Is the Tessen a river?", "It is the {Tessen}.", "It is the {Tessen}.", []string{"Tessen"}},
	} {
		m := model(func(llm.Request) (llm.Response, error) { return llm.Response{Text: c.written}, nil })
		got, err := answer.New(m, answer.DefaultConfig()).Write(t.Context(),
			answer.Request{Question: c.question, FixedGraph: facts}, llm.NewLedger(nil))
		if err != nil || got.Text != c.text || !slices.Equal(got.Entities, c.entities) {
			t.Errorf("%s %s: %q %q, %v", c.question, c.written, got.Text, got.Entities, err)
		}
	}
}

func graph(n int) *graphv1.FixedGraph {
	g := &graphv1.FixedGraph{}
	for i := range n {
		g.Triples = append(g.Triples, &graphv1.FixedTriple{
			Triple: &graphv1.Triple{Subject: "S", Relation: "r", Object: fmt.Sprintf("fact-%d.", i)},
			Status: graphv1.TripleStatus(1 + i%2),
		})
	}
	return g
}

// Styles differ in their system message; which one it is shows only in that
// the same style is the same and another is another.
func TestStyles(t *testing.T) {
	asked := func(style generatorv1.AnswerStyle, g *graphv1.FixedGraph) (system, last string) {
		m := model(func(req llm.Request) (llm.Response, error) {
			system, last = req.Messages[0].Content, req.Messages[len(req.Messages)-1].Content
			return llm.Response{Text: "{x}"}, nil
		})
		if _, err := answer.New(m, answer.DefaultConfig()).Write(t.Context(),
			answer.Request{Question: "the question", Style: style, FixedGraph: g}, llm.NewLedger(nil)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(last, "the question") {
			t.Errorf("style %v does not ask the question: %q", style, last)
		}
		return system, last
	}
	direct, _ := asked(generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT, nil)
	chain, _ := asked(generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT, nil)
	from, facts := asked(generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH, graph(2))
	if direct == chain || direct == from || chain == from {
		t.Error("two styles ask alike")
	}
	if !strings.Contains(facts, "fact-0") || !strings.Contains(facts, "fact-1. (unconfirmed)") ||
		strings.Contains(facts, "fact-0. (unconfirmed)") {
		t.Errorf("the facts are shown as %q", facts)
	}
	if s, _ := asked(0, nil); s != direct {
		t.Error("without a style and a graph the answer is not asked directly")
	}
	if s, _ := asked(0, graph(1)); s != from {
		t.Error("without a style the graph is not used")
	}
	if _, last := asked(generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT, graph(1)); strings.Contains(last, "fact-") {
		t.Error("a direct answer sees the graph")
	}
}

func TestOfALargeGraphTheFactsNearestToTheQuestionAreUsed(t *testing.T) {
	var last string
	m := model(func(req llm.Request) (llm.Response, error) {
		last = req.Messages[len(req.Messages)-1].Content
		return llm.Response{Text: "{x}"}, nil
	})
	got, err := answer.New(m, answer.DefaultConfig()).Write(t.Context(),
		answer.Request{Question: "q", FixedGraph: graph(500)}, llm.NewLedger(nil))
	if err != nil || len(got.Warnings) != 1 || got.Warnings[0].GetCode() != llm.WarnShortened {
		t.Fatalf("warnings %v, %v", got.Warnings, err)
	}
	if strings.Contains(last, "fact-0.") || !strings.Contains(last, "fact-499.") {
		t.Error("the last facts stand nearest to the question and should be the ones kept")
	}
}

func TestSamplingIsPassedOn(t *testing.T) {
	var req llm.Request
	m := model(func(r llm.Request) (llm.Response, error) {
		req = r
		return llm.Response{Text: "{x}"}, nil
	})
	cfg := answer.DefaultConfig()
	cfg.MaxTokens = 77
	if _, err := answer.New(m, cfg).Write(t.Context(),
		answer.Request{Question: "q", Temperature: .7, Seed: 9}, llm.NewLedger(nil)); err != nil {
		t.Fatal(err)
	}
	if req.Temperature != .7 || req.Seed != 9 || req.MaxTokens != 77 || req.Ledger == nil || req.Delta != nil {
		t.Errorf("asked with %+v", req)
	}
}
