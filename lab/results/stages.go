package results

import (
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/lab/stats"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// StageSummary is what one stage costs: means over the runs that came to it,
// its time over those that had no answer of it from the cache.
type StageSummary struct {
	// Name is the stage's name, such as "ground-graph".
	Name string `json:"-"`
	// Runs is the number of runs that came to it.
	Runs int `json:"runs"`
	// Calls is the mean number of calls that reached a model server.
	Calls float64 `json:"calls"`
	// CachedCalls is the mean number of calls answered from the cache.
	CachedCalls float64 `json:"cached_calls"`
	// PromptTokens is the mean number of tokens read by the model.
	PromptTokens float64 `json:"prompt_tokens"`
	// CompletionTokens is the mean number of tokens written by it.
	CompletionTokens float64 `json:"completion_tokens"`
	// CachedPromptTokens is the mean number of tokens that cached calls read when
	// a model answered them.
	CachedPromptTokens float64 `json:"cached_prompt_tokens"`
	// CachedCompletionTokens is the mean number of tokens that they wrote then.
	CachedCompletionTokens float64 `json:"cached_completion_tokens"`
	// USD is the mean cost in US dollars.
	USD float64 `json:"cost_usd"`
	// P50 is the median time in milliseconds; nil where every run had an answer
	// from the cache.
	P50 *float64 `json:"p50_ms"`
	// P95 is the time that 95 % of the runs keep within, in milliseconds.
	P95 *float64 `json:"p95_ms"`
}

// summariseStages sums up the stages, in their order within a question.
func summariseStages(runs []*Measures) []StageSummary {
	var out []StageSummary
	for _, name := range stageNames() {
		var costs []Cost
		var times []float64
		for _, m := range runs {
			cost, came := m.Stages[name]
			if !came {
				continue
			}
			costs = append(costs, cost)
			if cost.CachedCalls == 0 {
				times = append(times, cost.Milliseconds)
			}
		}
		if len(costs) == 0 {
			continue
		}
		var sum Cost
		for _, c := range costs {
			sum = sum.plus(c)
		}
		n := float64(len(costs))
		s := StageSummary{
			Name: name, Runs: len(costs),
			Calls: float64(sum.Calls) / n, CachedCalls: float64(sum.CachedCalls) / n,
			PromptTokens: float64(sum.PromptTokens) / n, CompletionTokens: float64(sum.CompletionTokens) / n,
			CachedPromptTokens:     float64(sum.CachedPromptTokens) / n,
			CachedCompletionTokens: float64(sum.CachedCompletionTokens) / n,
			USD:                    sum.USD / n,
		}
		if len(times) > 0 {
			s.P50, s.P95 = new(stats.Percentile(times, 50)), new(stats.Percentile(times, 95))
		}
		out = append(out, s)
	}
	return out
}

// stageNames returns the names of the stages in the order in which questions come
// to them.
func stageNames() []string {
	order := []orchestratorv1.Stage{
		orchestratorv1.Stage_STAGE_REWRITE,
		orchestratorv1.Stage_STAGE_CLAIMS,
		orchestratorv1.Stage_STAGE_CHOOSE,
		orchestratorv1.Stage_STAGE_LINK,
		orchestratorv1.Stage_STAGE_PSEUDO_GRAPH,
		orchestratorv1.Stage_STAGE_SEARCH,
		orchestratorv1.Stage_STAGE_PLAN,
		orchestratorv1.Stage_STAGE_ALIGN,
		orchestratorv1.Stage_STAGE_EXECUTE,
		orchestratorv1.Stage_STAGE_EXPLORE,
		orchestratorv1.Stage_STAGE_PATHS,
		orchestratorv1.Stage_STAGE_GROUND_GRAPH,
		orchestratorv1.Stage_STAGE_VERIFY,
		orchestratorv1.Stage_STAGE_CANDIDATES,
		orchestratorv1.Stage_STAGE_EVALUATE_QUESTION,
		orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS,
		orchestratorv1.Stage_STAGE_REFLECT,
		orchestratorv1.Stage_STAGE_SAMPLE,
		orchestratorv1.Stage_STAGE_ANSWER,
	}
	names := make([]string, len(order))
	for i, stage := range order {
		names[i] = config.EnumName(stage)
	}
	return names
}
