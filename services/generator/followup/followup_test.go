package followup_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	"github.com/triplemesh/triplemesh/services/generator/followup"
)

// model is a completer that keeps what it was asked.
type model struct {
	resp  llm.Response
	err   error
	asked []llm.Request
}

func (m *model) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	m.asked = append(m.asked, req)
	return m.resp, m.err
}

func user(text string) *generatorv1.Turn {
	return &generatorv1.Turn{Role: generatorv1.Role_ROLE_USER, Text: text}
}

func assistant(text string) *generatorv1.Turn {
	return &generatorv1.Turn{Role: generatorv1.Role_ROLE_ASSISTANT, Text: text}
}

var film = []*generatorv1.Turn{user("Who directed The Quiet Harbour?"), assistant("It was {Erik Halvorsen}.")}

var person = []*generatorv1.Turn{user("Do you know Ines Varga? Say yes."), assistant("Yes.")}

func TestRewrite(t *testing.T) {
	const asked, alone = "And when was he born?", "When was Erik Halvorsen born?"
	for _, c := range []struct {
		name     string
		question string
		history  []*generatorv1.Turn
		model    model
		want     string
		warned   string
		calls    int
	}{
		{"a follow-up stands alone", asked, film, model{resp: llm.Response{Text: alone}}, alone, "", 1},
		{"without a conversation no model is asked", asked, nil, model{}, asked, "", 0},
		{"a greeting is no conversation", asked, []*generatorv1.Turn{assistant("How can I help you?")},
			model{}, asked, "", 0},
		{"a question that refers to nothing asks no model", "What is the capital of Marenland?", film, model{},
			"What is the capital of Marenland?", "", 0},
		{"what the model repeats is as it was", asked, film, model{resp: llm.Response{Text: asked}}, asked, "", 1},
		{"unless the conversation names one thing", asked, person, model{resp: llm.Response{Text: asked}},
			"And when was Ines Varga born?", "", 1},
		{"so it is if the model cannot be used", asked, person, model{err: llm.ErrUnusable},
			"And when was Ines Varga born?", llm.WarnUnusable, 1},
		{"what is said around a question is left out", asked + " Ignore it.", person,
			model{resp: llm.Response{Text: asked}}, "And when was Ines Varga born?", "", 1},
		{"an answer with a name of the model's own is not taken", asked, film,
			model{resp: llm.Response{Text: "He was born in Oslo."}}, asked, llm.WarnUnusable, 1},
		{"nor is nothing", asked, film, model{resp: llm.Response{Text: "…"}}, asked, llm.WarnUnusable, 1},
		{"a model that cannot be used leaves the question as it was", asked, film, model{err: llm.ErrUnusable}, asked,
			llm.WarnUnusable, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings, err := followup.New(&c.model, followup.DefaultConfig()).Rewrite(t.Context(), c.question,
				c.history, llm.NewLedger(nil))
			if err != nil || got != c.want || len(c.model.asked) != c.calls {
				t.Errorf("got %q, %v after %d calls; want %q after %d", got, err, len(c.model.asked), c.want, c.calls)
			}
			warned := ""
			for _, w := range warnings {
				warned += w.GetCode()
			}
			if warned != c.warned {
				t.Errorf("warned of %q, want %q", warned, c.warned)
			}
		})
	}
}

func TestTheEndOfALongConversationIsShown(t *testing.T) {
	history := []*generatorv1.Turn{user("the oldest"), assistant("the second")}
	for range 3 {
		history = append(history, user("Who?"), assistant("{"+strings.Repeat("ä", 1000)+"}"))
	}
	m := &model{resp: llm.Response{Text: "who?"}}
	if _, _, err := followup.New(m, followup.DefaultConfig()).Rewrite(t.Context(), "and who?", history,
		llm.NewLedger(nil)); err != nil {
		t.Fatal(err)
	}
	last := m.asked[0].Messages[len(m.asked[0].Messages)-1].Content
	if strings.Contains(last, "oldest") || strings.Contains(last, "second") || strings.Count(last, "ä") != 3*400 ||
		strings.Contains(last, "{") {
		t.Errorf("the model was shown %q", last)
	}
	if !strings.HasSuffix(last, "\nLast question: and who?") {
		t.Errorf("the question does not stand last in %q", last)
	}
}

func TestErrorsOfTheModelAreTheCallers(t *testing.T) {
	for _, want := range []error{llm.ErrBudget, llm.ErrUnavailable, context.Canceled} {
		_, _, err := followup.New(&model{err: want}, followup.DefaultConfig()).Rewrite(t.Context(), "and he?", film,
			llm.NewLedger(nil))
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
