package evaluator_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	"github.com/triplemesh/triplemesh/services/evaluator"
)

// reasoning is an answer with the model's thoughts in a field of their own (vLLM, OpenRouter).
func reasoning(thoughts, content, finish string) string {
	return fmt.Sprintf(`{"object":"chat.completion","model":"scripted","choices":[{"index":0,"message":`+
		`{"role":"assistant","reasoning_content":%q,"content":%s},"finish_reason":%q}],`+
		`"usage":{"prompt_tokens":7,"completion_tokens":2}}`, thoughts, content, finish)
}

func TestModelsThatThinkFirstGetAVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		script func(*testkit.Rule)
		known  bool
		tokens []int // of each attempt
	}{
		{"a think block cut at its length is asked again with more tokens", func(r *testkit.Rule) {
			r.Reply("<think>\nThe").Finish("length").Reply("<think>\nThe river fits.</think>\n\nyes")
		}, true, []int{2, 2050}},
		{"reasoning content without an answer is asked again", func(r *testkit.Rule) {
			r.StatusBody(200, reasoning("The", "null", "length")).Reply("yes")
		}, true, []int{2, 2050}},
		{"reasoning content that ended before an answer is asked again", func(r *testkit.Rule) {
			r.StatusBody(200, reasoning("The", `""`, "stop")).Reply("yes")
		}, true, []int{2, 2050}},
		{"another word cut at its length is asked again", func(r *testkit.Rule) {
			r.Reply("The answer").Finish("length").Reply("yes")
		}, true, []int{2, 1024}},
		{"a model that thinks for longer still gives no verdict", func(r *testkit.Rule) {
			r.Reply("<think>\nThe").Finish("length")
		}, false, []int{2, 2050}},
		{"an answer at once needs no second attempt", func(r *testkit.Rule) {
			r.Reply("yes").Finish("length")
		}, true, []int{2}},
		{"a whole answer that is neither is not asked again", func(r *testkit.Rule) {
			r.Reply("perhaps")
		}, false, []int{2}},
		{"a refusal is not asked again", func(r *testkit.Rule) {
			r.NullContent()
		}, false, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := testkit.NewLLM(t)
			c.script(model.On())
			resp, err := serve(t, model).EvaluateAnswers(t.Context(), &evaluatorv1.EvaluateAnswersRequest{
				Question: "q", Candidates: candidates("Orla")})
			if err != nil {
				t.Fatal(err)
			}
			if v := resp.GetVerdicts()[0]; v.GetUnknown() == c.known || v.GetCorrect() != c.known {
				t.Errorf("verdict %v, warnings %v", v, resp.GetWarnings())
			}
			var tokens []int
			for _, r := range model.Requests() {
				tokens = append(tokens, r.MaxTokens)
			}
			if !slices.Equal(tokens, c.tokens) || int(resp.GetUsage().GetCalls()) != len(c.tokens) {
				t.Errorf("attempts of %d tokens, want %d; usage %v", tokens, c.tokens, resp.GetUsage())
			}
		})
	}
}

func TestTheSecondAttemptCanBeTurnedOff(t *testing.T) {
	cfg := evaluator.DefaultConfig().Verdict
	cfg.YesNoTokens, cfg.ThinkingTokens = 8, 0
	var tokens []int
	m := modelFunc(func(_ context.Context, req llm.Request) (llm.Response, error) {
		tokens = append(tokens, req.MaxTokens)
		return llm.Response{Text: "Well,", FinishReason: llm.FinishLength}, nil
	})
	got, _, err := evaluator.NewJudge(m, cfg).Sufficient(t.Context(), "q", nil, llm.NewLedger(nil))
	if err != nil || got.Known || !slices.Equal(tokens, []int{8}) {
		t.Errorf("got %v, %v after attempts of %d tokens, want one of 8", got, err, tokens)
	}
}
