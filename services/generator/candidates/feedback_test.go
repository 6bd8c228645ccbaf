package candidates_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/candidates"
)

// listens is a model that remembers what it is asked.
type listens struct {
	reply string
	asked []llm.Message
}

func (l *listens) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	l.asked = req.Messages
	return llm.Response{Text: l.reply}, nil
}

func feedbackWith(verdicts ...*graphv1.AnswerVerdict) *generatorv1.Feedback {
	return &generatorv1.Feedback{Answers: verdicts}
}

func TestReadAgain(t *testing.T) {
	right := &graphv1.AnswerVerdict{Answer: "Orla", Correct: true, Probability: new(float32(.9))}
	wrong := &graphv1.AnswerVerdict{Answer: "Tessen"}
	for _, c := range []struct {
		name     string
		feedback *generatorv1.Feedback
		reply    string
		shown    []string
		want     []string
		warned   string
	}{
		{"verdicts stand beside the candidates", feedbackWith(right, wrong, &graphv1.AnswerVerdict{Answer: "Harn",
			Unknown: true}), "{Orla}",
			[]string{"- Orla (right, 0.90)\n", "- Tessen (wrong)\n", "- Harn (not judged)"}, []string{"Orla"}, ""},
		{"a reason is told", &generatorv1.Feedback{Question: &graphv1.QuestionVerdict{Reason: "Harn is a town"}},
			"{Tessen}",
			[]string{"Review: Harn is a town"}, []string{"Tessen"}, ""},
		{"a verdict without one says what it means",
			&generatorv1.Feedback{Question: &graphv1.QuestionVerdict{Incomplete: true}}, "{Tessen}",
			[]string{"Review: not every candidate is right, and an answer is missing"}, []string{"Tessen"}, ""},
		{"that something is missing", &generatorv1.Feedback{Question: &graphv1.QuestionVerdict{Incomplete: true,
			Correct: true}}, "{Tessen}",
			[]string{"Review: an answer is missing"}, []string{"Tessen"}, ""},
		{"that something is wrong", &generatorv1.Feedback{Question: &graphv1.QuestionVerdict{}}, "{Tessen}",
			[]string{"Review: not every candidate is right"}, []string{"Tessen"}, ""},
		{"that all is right", &generatorv1.Feedback{Question: &graphv1.QuestionVerdict{Correct: true}}, "{Tessen}",
			[]string{"Review: every candidate is right"}, []string{"Tessen"}, ""},
		{"what was judged wrong may be given again, and what was not given before", feedbackWith(right, wrong),
			"{Tessen} {Elde}",
			nil, []string{"Tessen", "Elde"}, ""},
		{"where it names nothing, what was judged right remains", feedbackWith(wrong, right), "none of them",
			nil, []string{"Orla"}, llm.WarnUnusable},
		{"where that is nothing either, the ends of the best path are taken", feedbackWith(wrong), "none of them",
			nil, []string{"Tessen", "Orla", "Elde"}, llm.WarnUnusable},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := &listens{reply: c.reply}
			got, warnings, err := candidates.New(model, candidates.Config{MaxGroups: 2, MaxEnds: 3, MaxTokens: 64}).
				Read(t.Context(), "what rivers", walks("river", "Tessen", "Orla", "Elde"), c.feedback,
					llm.NewLedger(nil))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, a := range got {
				names = append(names, a.GetAnswer())
			}
			warned := ""
			for _, w := range warnings {
				warned += w.GetCode()
			}
			if !slices.Equal(names, c.want) || warned != c.warned {
				t.Errorf("got %q with %q, want %q with %q", names, warned, c.want, c.warned)
			}
			for _, part := range c.shown {
				if last := model.asked[len(model.asked)-1].Content; !strings.Contains(last, part) {
					t.Errorf("%q is not in %q", part, last)
				}
			}
		})
	}
}

func TestFeedbackThatSaysNothingChangesNothing(t *testing.T) {
	ask := func(feedback *generatorv1.Feedback) []llm.Message {
		model := &listens{reply: "{Orla}"}
		if _, _, err := candidates.New(model, candidates.Config{MaxGroups: 2, MaxEnds: 3, MaxTokens: 64}).
			Read(t.Context(), "what rivers", walks("river", "Orla"), feedback, llm.NewLedger(nil)); err != nil {
			t.Fatal(err)
		}
		return model.asked
	}
	without := ask(nil)
	if !slices.Equal(ask(&generatorv1.Feedback{}), without) {
		t.Error("empty feedback changes the prompt")
	}
	if slices.Equal(ask(feedbackWith(&graphv1.AnswerVerdict{Answer: "Orla"})), without) {
		t.Error("a verdict does not change the prompt")
	}
}
