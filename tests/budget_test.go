package tests

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestABudgetThatRunsOutLeavesAPartialAnswer(t *testing.T) {
	for _, c := range []struct {
		name, method string
		budget       *llmv1.Budget
		answer       string
		calls        uint32
	}{
		{"one call drafts, and the evidence nearest to the question answers", "pg-akv", &llmv1.Budget{MaxCalls: 1},
			employer, 1},
		{"tokens for the draft alone leave that evidence too", "pg-akv", &llmv1.Budget{MaxTokens: 110}, employer, 1},
		{"two calls leave candidates unjudged", "ger", &llmv1.Budget{MaxCalls: 2}, yale + ", New York City",
			2},
		{"tokens for candidates alone leave these", "ger", &llmv1.Budget{MaxTokens: 140}, yale + ", New York City", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := start(t, options{model: scripted(t)})
			req := question(c.method)
			req.Limits = &llmv1.Limits{Budget: c.budget}
			run := m.ask(t, req)
			checkPartial(t, run, "the budget ran out")
			if names(run) != c.answer || run.GetUsage().GetCalls() != c.calls {
				t.Errorf("the answer is %s after %d calls, want %s after %d", names(run), run.GetUsage().GetCalls(),
					c.answer, c.calls)
			}
		})
	}
}

func TestADeadlineLeavesAPartialAnswer(t *testing.T) {
	for _, c := range []struct{ name, method, task, answer string }{
		{"an answer that is never written gives way to the evidence", "pg-akv", "answer", employer},
		{"a reflection that never ends gives way to the verdicts", "ger", "reflect", yale},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := scripted(t)
			m := start(t, options{model: model})
			model.On(testkit.Task(c.task)).Hang()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			resp, err := m.orchestrator.Ask(ctx, question(c.method))
			if err != nil {
				t.Fatalf("want a partial answer, got %v", err)
			}
			checkPartial(t, resp.GetRun(), "the time ran out")
			if names(resp.GetRun()) != c.answer {
				t.Errorf("the answer is %s, want %s", names(resp.GetRun()), c.answer)
			}
		})
	}
}

// checkPartial looks for the reason in the run and in its warnings.
func checkPartial(t *testing.T, run *orchestratorv1.Run, reason string) {
	t.Helper()
	if !run.GetPartial() || !strings.Contains(run.GetGroundingReason(), reason) {
		t.Errorf("partial is %v and the reason %q, want %q", run.GetPartial(), run.GetGroundingReason(), reason)
	}
	if len(warnings(run)) == 0 {
		t.Error("no stage has a warning")
	}
}

// warnings returns the warnings of all stages.
func warnings(run *orchestratorv1.Run) (all []*llmv1.Warning) {
	for _, s := range run.GetStages() {
		all = append(all, s.GetWarnings()...)
	}
	return all
}
