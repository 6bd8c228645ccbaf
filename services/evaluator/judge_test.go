package evaluator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/evaluator"
)

// modelFunc is a completer made of a function.
type modelFunc func(context.Context, llm.Request) (llm.Response, error)

func (m modelFunc) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	return m(ctx, req)
}

// replyWith answers every request with one text.
func replyWith(text string) modelFunc {
	return func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{Text: text}, nil }
}

func lastMessage(req llm.Request) string { return req.Messages[len(req.Messages)-1].Content }

func newJudge(m llm.Completer) *evaluator.Judge {
	return evaluator.NewJudge(m, evaluator.JudgeConfig{Parallel: 3, MaxGroups: 2, MaxEnds: 2, MaxPaths: 1})
}

func candidates(names ...string) (out []*graphv1.CandidateAnswer) {
	for _, n := range names {
		out = append(out, &graphv1.CandidateAnswer{Answer: n, Paths: []*graphv1.ReasoningPath{path("Velmora", n)}})
	}
	return out
}

func path(from, to string) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: []string{from, to}, Steps: []*graphv1.RelationStep{{Relation: "river"}}}
}

func warningCodes(warnings []*llmv1.Warning) (all string) {
	for _, w := range warnings {
		all += w.GetCode()
	}
	return all
}

func TestAnswersAreJudgedInTheirOrder(t *testing.T) {
	names := []string{"Orla", "Harn", "Tessen", "Elde", "Oster"}
	right := []string{"Orla", "Tessen"}
	m := modelFunc(func(_ context.Context, req llm.Request) (llm.Response, error) {
		for _, n := range right {
			if strings.Contains(lastMessage(req), n) {
				return llm.Response{Text: "yes"}, nil
			}
		}
		return llm.Response{Text: "no"}, nil
	})
	got, warnings, err := newJudge(m).Answers(t.Context(), "what rivers", candidates(names...), llm.NewLedger(nil))
	if err != nil || len(warnings) > 0 || len(got) != len(names) {
		t.Fatalf("got %v, %v, %v", got, warnings, err)
	}
	for i, v := range got {
		if v.GetAnswer() != names[i] || v.GetCorrect() != slices.Contains(right, names[i]) || v.GetUnknown() {
			t.Errorf("verdict %d is %v", i, v)
		}
	}
}

func TestCallsUnderWayAreBounded(t *testing.T) {
	var underWay, most atomic.Int64
	begun, release := make(chan struct{}, 9), make(chan struct{})
	m := modelFunc(func(context.Context, llm.Request) (llm.Response, error) {
		n := underWay.Add(1)
		defer underWay.Add(-1)
		for seen := most.Load(); n > seen; seen = most.Load() {
			if most.CompareAndSwap(seen, n) {
				break
			}
		}
		begun <- struct{}{}
		<-release
		return llm.Response{Text: "yes"}, nil
	})
	done := make(chan error, 1)
	go func() {
		_, _, err := newJudge(m).Answers(t.Context(), "q", candidates("a", "b", "c", "d", "e", "f", "g"),
			llm.NewLedger(nil))
		done <- err
	}()
	for range 3 {
		<-begun // as many as may be
	}
	close(release)
	if err := <-done; err != nil || most.Load() != 3 {
		t.Errorf("%d calls at once, want 3; %v", most.Load(), err)
	}
}

func TestAnswersThatCouldNotBeJudged(t *testing.T) {
	down := errors.New("down")
	for _, c := range []struct {
		name    string
		of      map[string]any // candidate to answer or error
		unknown []string
		warned  string
		err     error
	}{
		{"neither yes nor no is unknown", map[string]any{"a": "yes", "b": "maybe", "c": "no"}, []string{"b"},
			llm.WarnUnusable, nil},
		{"unusable output is unknown", map[string]any{"a": llm.ErrUnusable, "b": "yes", "c": "no"}, []string{"a"},
			llm.WarnUnusable, nil},
		{"where the budget runs out the rest are unknown", map[string]any{"a": "yes", "b": llm.ErrBudget,
			"c": llm.ErrBudget}, []string{"b", "c"}, llm.WarnBudget, nil},
		{"a model that is down fails the call", map[string]any{"a": "yes", "b": down, "c": "no"}, nil, "", down},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := modelFunc(func(_ context.Context, req llm.Request) (llm.Response, error) {
				for name, says := range c.of {
					if !strings.Contains(lastMessage(req), "candidate-"+name) {
						continue
					}
					if err, failed := says.(error); failed {
						return llm.Response{}, err
					}
					return llm.Response{Text: says.(string)}, nil
				}
				return llm.Response{}, fmt.Errorf("asked of none: %s", lastMessage(req))
			})
			got, warnings, err := newJudge(m).Answers(t.Context(), "q", candidates("candidate-a", "candidate-b",
				"candidate-c"), llm.NewLedger(nil))
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			var unknown []string
			for _, v := range got {
				if v.GetUnknown() {
					unknown = append(unknown, strings.TrimPrefix(v.GetAnswer(), "candidate-"))
					if v.GetCorrect() || v.Probability != nil {
						t.Errorf("an unknown verdict says %v", v)
					}
				}
			}
			if !slices.Equal(unknown, c.unknown) || warningCodes(warnings) != c.warned {
				t.Errorf("unknown %q with %q, want %q with %q", unknown, warningCodes(warnings), c.unknown, c.warned)
			}
		})
	}
}

func TestACandidateIsShownItsOwnPathsOnly(t *testing.T) {
	var asked string
	m := modelFunc(func(_ context.Context, req llm.Request) (llm.Response, error) {
		asked = lastMessage(req)
		return llm.Response{Text: "yes"}, nil
	})
	c := candidates("Orla")
	c[0].Paths = append(c[0].Paths, path("Second", "Orla"))
	if _, _, err := newJudge(m).Answers(t.Context(), "q", c, llm.NewLedger(nil)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked, "Velmora") || strings.Contains(asked, "Second") {
		t.Errorf("asked with more or less than the first path: %q", asked)
	}
}

func TestQuestion(t *testing.T) {
	for _, c := range []struct {
		name       string
		says       string
		candidates []*graphv1.CandidateAnswer
		want       string
		warned     string
	}{
		{"a verdict is read", `{"reason":"Orla is missing","correct":true,"incomplete":true}`, candidates("Tessen"),
			"true true Orla is missing", ""},
		{"prose around it does not matter",
			"Verdict:\n```json\n{\"reason\":\"ok\",\"correct\":true,\"incomplete\":false}\n```", candidates("Tessen"),
			"true false ok", ""},
		{"a garbled one is none, with a warning", "It is fine.", candidates("Tessen"), "", llm.WarnUnusable},
		{"one that lacks a field is none, with a warning", `{"reason":"ok"}`, candidates("Tessen"), "",
			llm.WarnUnusable},
		{"no candidates are incomplete where paths lead somewhere", "", nil, "false true there are no candidates", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings, err := newJudge(replyWith(c.says)).Question(t.Context(), "q", c.candidates,
				[]*graphv1.ReasoningPath{path("Velmora", "Orla")}, llm.NewLedger(nil))
			if err != nil || warningCodes(warnings) != c.warned {
				t.Fatalf("warned of %q, %v; want %q", warningCodes(warnings), err, c.warned)
			}
			if got == nil && c.want == "" {
				return
			}
			if s := fmt.Sprint(got.GetCorrect(), got.GetIncomplete(), " ", got.GetReason()); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
	if _, _, err := newJudge(modelFunc(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{},
			llm.ErrBudget
	})).
		Question(t.Context(), "q", candidates("x"), nil, llm.NewLedger(nil)); !errors.Is(err, llm.ErrBudget) {
		t.Errorf("a spent budget gave %v", err)
	}
}

func TestSufficient(t *testing.T) {
	for _, c := range []struct {
		name, says string
		yes        bool
		warned     string
	}{
		{"yes", "yes", true, ""},
		{"no", "no", false, ""},
		{"neither is taken for no", "hm", false, llm.WarnUnusable},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings, err := newJudge(replyWith(c.says)).Sufficient(t.Context(), "q",
				[]*graphv1.ReasoningPath{path("a", "b")}, llm.NewLedger(nil))
			if err != nil || got.Yes != c.yes || warningCodes(warnings) != c.warned {
				t.Errorf("got %v, %v, %v", got, warnings, err)
			}
		})
	}
}
