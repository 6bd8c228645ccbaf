package pseudograph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/services/generator/pseudograph"
)

// model is a completer made of a function.
type model func(context.Context) (llm.Response, error)

func (m model) Complete(ctx context.Context, _ llm.Request) (llm.Response, error) { return m(ctx) }

func replyWith(text string) model {
	return func(context.Context) (llm.Response, error) { return llm.Response{Text: text}, nil }
}

func TestPseudoGraph(t *testing.T) {
	const film = `CREATE (:Film {name: "The Quiet Harbour"})-[:DIRECTOR]->(:Person {name: "Erik Halvorsen"})`
	for _, c := range []struct {
		name, text string
		objects    []string
		diagnosed  bool
		warned     string
	}{
		{"a statement makes a triple", film, []string{"Erik Halvorsen"}, false, ""},
		{"prose and fences around it do not matter", "Here:\n```cypher\n" + film + "\n```\nDone.",
			[]string{"Erik Halvorsen"}, false, ""},
		{"what is broken is told of and the rest stands", film + "\nCREATE (:Person {name: \"X\"-[:BORN",
			[]string{"Erik Halvorsen"}, true, ""},
		{"a refusal holds no fact", "I'm sorry, I do not know that film.", nil, false, llm.WarnUnusable},
		{"another language holds no fact", "申し訳ありませんが、その質問にはお答えできません。", nil, false, llm.WarnUnusable},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := pseudograph.New(replyWith(c.text), pseudograph.DefaultConfig()).PseudoGraph(t.Context(),
				"who directed it", llm.NewLedger(nil))
			if err != nil || got.Cypher != c.text {
				t.Fatalf("got Cypher %q, %v", got.Cypher, err)
			}
			var objects []string
			for _, triple := range got.PseudoGraph.GetTriples() {
				objects = append(objects, triple.GetObject())
			}
			if !slices.Equal(objects, c.objects) {
				t.Errorf("objects %q, want %q", objects, c.objects)
			}
			if c.diagnosed != (len(got.Diagnostics) > 0) {
				t.Errorf("diagnostics %v", got.Diagnostics)
			}
			for _, d := range got.Diagnostics {
				if d.GetLine() < 1 || d.GetColumn() < 1 || d.GetMessage() == "" {
					t.Errorf("a diagnostic stands nowhere or says nothing: %v", d)
				}
			}
			warned := ""
			for _, w := range got.Warnings {
				warned += w.GetCode()
			}
			if warned != c.warned {
				t.Errorf("warned of %q, want %q", warned, c.warned)
			}
		})
	}
}

func TestALoopInTheCypherIsCutShort(t *testing.T) {
	got, err := pseudograph.New(
		replyWith(`UNWIND range(1, 5000) AS i CREATE (:A {name: "a" + i})-[:R]->(:B {name: "b" + i})`),
		pseudograph.DefaultConfig()).
		PseudoGraph(t.Context(), "q", llm.NewLedger(nil))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.PseudoGraph.GetTriples()); n != 64 || len(got.Warnings) != 1 ||
		got.Warnings[0].GetCode() != llm.WarnDropped {
		t.Errorf("%d triples, warnings %v", n, got.Warnings)
	}
}

func TestWhenTheModelGivesNothing(t *testing.T) {
	fails := func(err error) model {
		return func(context.Context) (llm.Response, error) { return llm.Response{}, err }
	}
	got, err := pseudograph.New(fails(llm.ErrUnusable), pseudograph.DefaultConfig()).PseudoGraph(t.Context(), "q",
		llm.NewLedger(nil))
	if err != nil || got.PseudoGraph == nil || len(got.Warnings) != 1 {
		t.Errorf("nothing usable gave %v, %v; want an empty graph and a warning", got, err)
	}
	if _, err = pseudograph.New(fails(llm.ErrBudget), pseudograph.DefaultConfig()).PseudoGraph(t.Context(), "q",
		llm.NewLedger(nil)); !errors.Is(err,
		llm.ErrBudget) {
		t.Errorf("a spent budget gave %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	leaves := model(func(context.Context) (llm.Response, error) {
		cancel()
		return llm.Response{Text: `CREATE (:A {name: "a"})-[:R]->(:B {name: "b"})`}, nil
	})
	if _, err = pseudograph.New(leaves, pseudograph.DefaultConfig()).PseudoGraph(ctx, "q",
		llm.NewLedger(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left before the Cypher ran gave %v", err)
	}
}

// completer keeps the request.
type completer struct{ req llm.Request }

func (c *completer) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	c.req = req
	return llm.Response{Text: "-"}, nil
}

func TestTheNumberOfDraftedFactsIsConfigured(t *testing.T) {
	for _, c := range []struct {
		least, most int
		want        string
	}{{2, 4, "Write two to four facts"}, {3, 3, "Write three facts"}, {1, 12, "Write one to 12 facts"}} {
		t.Run(c.want, func(t *testing.T) {
			var m completer
			cfg := pseudograph.Config{MaxTokens: 77, MinFacts: c.least, MaxFacts: c.most, MaxTriples: 9}
			if _, err := pseudograph.New(&m, cfg).PseudoGraph(t.Context(), "q", llm.NewLedger(nil)); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(m.req.Messages[0].Content, c.want) || m.req.MaxTokens != 77 {
				t.Errorf("%d tokens for %q", m.req.MaxTokens, m.req.Messages[0].Content)
			}
		})
	}
}
