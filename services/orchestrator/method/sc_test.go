package method_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// scriptSamples scripts the sample of each seed: its answers, or the error that it ends
// in.
func scriptSamples(m *stagetest.Mesh, bySeed map[int64]any) {
	stagetest.Script(m, func(_ context.Context, req *generatorv1.GenerateAnswerRequest) (
		*generatorv1.GenerateAnswerResponse, error) {
		switch said := bySeed[req.GetSeed()].(type) {
		case error:
			return nil, said
		case []string:
			return &generatorv1.GenerateAnswerResponse{
				Text: "I think {" + strings.Join(said, "} and {") + "}", Answers: said,
				Probability: new(float32(req.GetSeed()) / 10), Usage: stagetest.Usage(),
			}, nil
		}
		return &generatorv1.GenerateAnswerResponse{Usage: stagetest.Usage()}, nil
	})
}

func TestSamplesAreCounted(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples map[int64]any
		limits  *llmv1.Budget
		answers []string
		text    string
		partial bool
		why     string
	}{
		{"the majority, in the words of the first sample that gives it", map[int64]any{1: []string{"Oslo"},
			2: []string{"Bergen"}, 3: []string{"bergen"}}, nil,
			[]string{"Bergen"}, "I think Bergen", false, ""},
		{"a majority that no sample gives alone is told as it is", map[int64]any{1: []string{"Oslo", "Ask", "Elde"},
			2: []string{"Oslo", "Ask"}, 3: []string{"Elde"}}, nil,
			[]string{"Oslo", "Ask", "Elde"}, "I think Oslo and Ask and Elde", false, ""},
		{"answers of several samples together have a text of their own", map[int64]any{1: []string{"Oslo", "Ask"},
			2: []string{"Oslo", "Elde"}, 3: []string{"Bergen"}}, nil,
			[]string{"Oslo"}, "Oslo", false, ""},
		{"a sample that fails is done without", map[int64]any{1: down, 2: []string{"Bergen"}, 3: []string{"Bergen"}},
			nil,
			[]string{"Bergen"}, "I think Bergen", true, "2 of 3 samples were counted: the stage is down"},
		{"one sample is enough", map[int64]any{1: down, 2: down, 3: []string{"Bergen"}}, nil,
			[]string{"Bergen"}, "I think Bergen", true, "1 of 3 samples"},
		{"samples that a budget has no room for are not asked", map[int64]any{1: []string{"Oslo"},
			2: []string{"Bergen"}, 3: []string{"Bergen"}}, &llmv1.Budget{MaxCalls: 2},
			[]string{"Oslo"}, "I think Oslo", true, "2 of 3 samples were counted: the budget ran out"},
		{"no sample with an answer", nil, nil, nil, "", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			scriptSamples(mesh, c.samples)
			run, err := ask(t.Context(), t, mesh, askOptions{method: "sc", limits: c.limits})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(names(run), c.answers) || run.GetText() != c.text || run.GetPartial() != c.partial {
				t.Errorf("answered %q by %q, partial %v; want %q by %q, partial %v", names(run), run.GetText(),
					run.GetPartial(), c.answers, c.text, c.partial)
			}
			var warned string
			for _, w := range run.GetStages()[0].GetWarnings() {
				warned += w.GetMessage()
			}
			if !strings.Contains(warned, c.why) || (warned == "") != (c.why == "") {
				t.Errorf("warned %q, want %q", warned, c.why)
			}
			if c.limits != nil && run.GetUsage().GetCalls() > c.limits.GetMaxCalls() {
				t.Errorf("spent %d calls of %d", run.GetUsage().GetCalls(), c.limits.GetMaxCalls())
			}
		})
	}
}

func TestSamplesAreKeptInTheOrderOfTheirSeeds(t *testing.T) {
	mesh := stagetest.New(t)
	scriptSamples(mesh, map[int64]any{1: []string{"Oslo"}, 2: []string{"Bergen"}, 3: []string{"Bergen"}})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "sc"})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, s := range run.GetSc().GetSamples() {
		texts = append(texts, s.GetAnswers()...)
	}
	if !slices.Equal(texts, []string{"Oslo", "Bergen", "Bergen"}) || run.GetAnswerProbability() != .2 {
		t.Errorf("the samples are %q, the answer's probability %v", texts, run.GetAnswerProbability())
	}
	for _, req := range stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh) {
		if req.GetTemperature() != .7 || req.GetStyle() != generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT {
			t.Errorf("sampled by %v", req)
		}
	}
}

func TestSamplesAreTakenAtOnceUnlessABudgetIsShared(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits *llmv1.Budget
	}{{"no budget", nil}, {"a budget", plenty}} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			var underWay atomic.Int64
			all := make(chan struct{})
			stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateAnswerRequest) (
				*generatorv1.GenerateAnswerResponse, error) {
				n := underWay.Add(1)
				defer underWay.Add(-1)
				switch {
				case c.limits == nil && n == 3:
					close(all)
				case c.limits == nil:
					<-all // where the others are not under way, the test does not end
				case n > 1:
					t.Error("two samples spend one budget at once")
				}
				return &generatorv1.GenerateAnswerResponse{Text: "{x}", Answers: []string{"x"}}, nil
			})
			if _, err := ask(t.Context(), t, mesh, askOptions{method: "sc", limits: c.limits}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAQuestionThatNoSampleCanTakeFails(t *testing.T) {
	mesh := stagetest.New(t)
	scriptSamples(mesh, map[int64]any{1: []string{"Oslo"}, 2: down, 3: status.Error(codes.InvalidArgument, "too long")})
	if _, err := ask(t.Context(), t, mesh, askOptions{method: "sc"}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("ended with %v", err)
	}
}

func TestTextsCannotBeCountedSoTheFirstStands(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(_ context.Context, req *generatorv1.GenerateAnswerRequest) (
		*generatorv1.GenerateAnswerResponse, error) {
		if req.GetForm() != graphv1.AnswerForm_ANSWER_FORM_TEXT {
			return nil, errors.New("the form is not passed on")
		}
		return &generatorv1.GenerateAnswerResponse{Text: strings.Repeat("so ", int(req.GetSeed())),
			Form: req.GetForm()}, nil
	})
	run, err := ask(t.Context(), t, mesh,
		askOptions{method: "sc", options: &orchestratorv1.AskOptions{
			AnswerForm: graphv1.AnswerForm_ANSWER_FORM_TEXT}})
	if err != nil || run.GetText() != "so " || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_UNGROUNDED {
		t.Errorf("got %q, %v, %v", run.GetText(), run.GetGrounding(), err)
	}
}

func TestSamplesAreNotStreamed(t *testing.T) {
	mesh := stagetest.New(t)
	var heard strings.Builder
	if _, err := ask(t.Context(), t, mesh,
		askOptions{method: "sc", listen: question.Listener(func(e *orchestratorv1.AskStreamResponse) {
			heard.WriteString(e.GetAnswerDelta())
		})}); err != nil || heard.Len() > 0 {
		t.Errorf("three texts at once were told as one: %q, %v", heard.String(), err)
	}
}
