package evaluator_test

import (
	"context"
	"math"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/evaluator"
)

func serve(t *testing.T, model *testkit.LLM) evaluatorv1.EvaluatorServiceClient {
	t.Helper()
	s := testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
		cfg := evaluator.DefaultConfig()
		cfg.Server.Listener, cfg.Telemetry.LogWriter, cfg.LLM = l, t.Output(), model.Config()
		return evaluator.Run(ctx, cfg)
	})
	return evaluatorv1.NewEvaluatorServiceClient(s.Conn)
}

func TestAnswersAreJudgedWithProbabilities(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("evaluate-answer"), testkit.Contains("Orla")).ReplyChoice(map[string]float64{"yes": .75,
		"no": .25})
	model.On(testkit.Task("evaluate-answer"), testkit.Contains("Harn")).ReplyChoice(map[string]float64{"yes": .1,
		"no": .9})
	resp, err := serve(t, model).EvaluateAnswers(t.Context(),
		&evaluatorv1.EvaluateAnswersRequest{Question: "what rivers", Candidates: candidates("Orla", "Harn")})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		answer string
		p      float64
	}{{"Orla", .75}, {"Harn", .1}} {
		v := resp.GetVerdicts()[i]
		if v.GetAnswer() != want.answer || v.GetCorrect() != (want.p >= .5) || v.Probability == nil ||
			math.Abs(float64(v.GetProbability())-want.p) > 1e-3 {
			t.Errorf("verdict %d is %v, want %v", i, v, want)
		}
	}
	if resp.GetUsage().GetCalls() != 2 || len(resp.GetWarnings()) > 0 {
		t.Errorf("usage %v, warnings %v", resp.GetUsage(), resp.GetWarnings())
	}
}

func TestAnEndpointWithoutProbabilitiesJudgesByWord(t *testing.T) {
	model := testkit.NewLLM(t)
	model.Lacks("logprobs")
	model.On().Reply("Yes.")
	resp, err := serve(t, model).EvaluateAnswers(t.Context(), &evaluatorv1.EvaluateAnswersRequest{Question: "q",
		Candidates: candidates("Orla")})
	if err != nil || !resp.GetVerdicts()[0].GetCorrect() || resp.GetVerdicts()[0].Probability != nil {
		t.Errorf("got %v, %v; want right, with no probability", resp, err)
	}
}

func TestABudgetThatRunsOutInTheMiddle(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On().Reply("yes")
	resp, err := serve(t, model).EvaluateAnswers(t.Context(), &evaluatorv1.EvaluateAnswersRequest{
		Question: "q", Candidates: candidates("a", "b", "c", "d", "e"),
		Limits: &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, v := range resp.GetVerdicts() {
		if !v.GetUnknown() {
			judged++
		}
	}
	if len(resp.GetVerdicts()) != 5 || judged != 2 || resp.GetUsage().GetCalls() != 2 {
		t.Errorf("%d of %d judged in %d calls, want 2 of 5", judged, len(resp.GetVerdicts()),
			resp.GetUsage().GetCalls())
	}
	if len(resp.GetWarnings()) != 1 || resp.GetWarnings()[0].GetCode() != llm.WarnBudget {
		t.Errorf("warned of %v", resp.GetWarnings())
	}
}

func TestTheOtherCalls(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("evaluate-question")).ReplyJSON(map[string]any{"reason": "ok", "correct": true,
		"incomplete": false})
	model.On(testkit.Task("rank-candidates")).ReplyJSON(map[string]any{"ranked": []any{map[string]any{"item": 2,
		"weight": .5}}})
	model.On(testkit.Task("judge-sufficiency")).ReplyChoice(map[string]float64{"yes": .9, "no": .1})
	client := serve(t, model)

	set, err := client.EvaluateQuestion(t.Context(), &evaluatorv1.EvaluateQuestionRequest{Question: "q",
		Candidates: candidates("a")})
	if err != nil || !set.GetVerdict().GetCorrect() || set.GetUsage().GetCalls() != 1 {
		t.Errorf("got %v, %v", set, err)
	}
	ranked, err := client.RankCandidates(t.Context(), &evaluatorv1.RankCandidatesRequest{Question: "q",
		Candidates: []string{"a", "b"}})
	if err != nil || len(ranked.GetRanked()) != 1 || ranked.GetRanked()[0].GetIndex() != 1 {
		t.Errorf("got %v, %v", ranked, err)
	}
	enough, err := client.JudgeSufficiency(t.Context(), &evaluatorv1.JudgeSufficiencyRequest{Question: "q",
		Paths: []*graphv1.ReasoningPath{path("Velmora", "Orla")}})
	if err != nil || !enough.GetSufficient() || math.Abs(float64(enough.GetProbability())-.9) > 1e-3 {
		t.Errorf("got %v, %v", enough, err)
	}
	model.On(testkit.Task("evaluate-answer")).ReplyChoice(map[string]float64{"yes": .9, "no": .1})
	model.On(testkit.Task("evaluate-answer"), testkit.Matches("\nAnswer: a$")).
		ReplyChoice(map[string]float64{"yes": .2, "no": .8})
	for byRelation, want := range map[bool]float64{false: .9, true: .2} {
		judged, err := client.EvaluateAnswers(t.Context(), &evaluatorv1.EvaluateAnswersRequest{Question: "q",
			Candidates: candidates("a"), ByRelation: byRelation})
		if err != nil || math.Abs(float64(judged.GetVerdicts()[0].GetProbability())-want) > 1e-3 {
			t.Errorf("by relation %v: got %v, %v; want %v", byRelation, judged, err, want)
		}
	}
}

func TestTheModelServerMisbehaves(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On().Reply("yes")
	model.On(testkit.Task("evaluate-question")).ReplyJSON(map[string]any{"reason": "ok", "correct": true,
		"incomplete": false})
	model.On(testkit.Task("rank-candidates")).ReplyJSON(map[string]any{"ranked": []any{map[string]any{"item": 1,
		"weight": .5}}})
	client := serve(t, model)
	for name, call := range map[string]func(context.Context) (testkit.Warned, error){
		"question": func(ctx context.Context) (testkit.Warned, error) {
			return client.EvaluateQuestion(ctx, &evaluatorv1.EvaluateQuestionRequest{Question: "q",
				Candidates: candidates("a")})
		},
		"answers": func(ctx context.Context) (testkit.Warned, error) {
			return client.EvaluateAnswers(ctx, &evaluatorv1.EvaluateAnswersRequest{Question: "q",
				Candidates: candidates("a", "b")})
		},
		"rank": func(ctx context.Context) (testkit.Warned, error) {
			return client.RankCandidates(ctx, &evaluatorv1.RankCandidatesRequest{Question: "q",
				Candidates: []string{"a"}, Limit: 1})
		},
		"sufficiency": func(ctx context.Context) (testkit.Warned, error) {
			return client.JudgeSufficiency(ctx, &evaluatorv1.JudgeSufficiencyRequest{Question: "q"})
		},
	} {
		t.Run(name, func(t *testing.T) { model.Misbehave(t, call) })
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	client := serve(t, testkit.NewLLM(t))
	rank := func(req *evaluatorv1.RankCandidatesRequest) func(context.Context) error {
		return func(ctx context.Context) error { _, err := client.RankCandidates(ctx, req); return err }
	}
	for _, c := range []struct {
		name  string
		call  func(context.Context) error
		field string
	}{
		{"no question", rank(&evaluatorv1.RankCandidatesRequest{Candidates: []string{"a"}}), "question"},
		{"no candidates to rank", rank(&evaluatorv1.RankCandidatesRequest{Question: "q"}), "candidates"},
		{"a limit out of range", rank(&evaluatorv1.RankCandidatesRequest{Question: "q", Candidates: []string{"a"},
			Limit: 65}), "limit"},
		{"no candidates to judge", func(ctx context.Context) error {
			_, err := client.EvaluateAnswers(ctx, &evaluatorv1.EvaluateAnswersRequest{Question: "q"})
			return err
		}, "candidates"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.call(t.Context())
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), c.field+": ") {
				t.Errorf("got %v, want INVALID_ARGUMENT that names %s", err, c.field)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	cfg := evaluator.DefaultConfig()
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
	cfg.Verdict.Parallel = 0
	if cfg.Validate() == nil {
		t.Error("no call at once is no setting, but passed")
	}
}
