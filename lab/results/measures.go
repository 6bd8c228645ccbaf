package results

import (
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Measures are what one run is measured by. What a run did not come to is
// unset: a stage the method does not have, or one after the stage it stopped
// at.
type Measures struct {
	// Answered reports whether the run names an answer at all.
	Answered bool `json:"answered"`
	// Abstained says that it says that there is none.
	Abstained bool `json:"abstained,omitempty"`
	// Grounded reports whether the run marks its answers as grounded, Answers how many it gives; unset
	// if the run stopped before, and in results from before these were measured.
	Grounded *bool `json:"grounded,omitempty"`
	Answers  *int  `json:"answers,omitempty"`
	// Partial says that a budget or a failing stage ended the run early.
	Partial bool `json:"partial,omitempty"`
	// Scores are those of the answers.
	Scores score.Scores `json:"scores"`
	// Confidence is how likely the answers are right by the run, 0 to 1.
	Confidence *float64 `json:"confidence,omitempty"`
	// Graphs are what the method made on its way.
	Graphs
	// Cost is that of the whole run.
	Cost
	// Stages are the costs of the stages gone through, by name.
	Stages map[string]Cost `json:"stages,omitempty"`
}

// Cost is what a run or one of its stages took. Only calls that reached a model
// server count, except for the Cached….
type Cost struct {
	// Calls is the number of calls that reached a model server.
	Calls uint32 `json:"calls"`
	// CachedCalls is the number of calls answered from the cache.
	CachedCalls uint32 `json:"cached_calls"`
	// PromptTokens were read by the model.
	PromptTokens uint64 `json:"prompt_tokens"`
	// CompletionTokens were written by the model.
	CompletionTokens uint64 `json:"completion_tokens"`
	// USD is the cost in US dollars by the configured prices.
	USD float64 `json:"cost_usd"`
	// CachedPromptTokens are what the cached calls read when a model answered
	// them.
	CachedPromptTokens uint64 `json:"cached_prompt_tokens,omitempty"`
	// CachedCompletionTokens are what they wrote then.
	CachedCompletionTokens uint64 `json:"cached_completion_tokens,omitempty"`
	// CachedUSD is what they cost then.
	CachedUSD float64 `json:"cached_cost_usd,omitempty"`
	// Milliseconds is how long it took, by the orchestrator's clock.
	Milliseconds float64 `json:"ms"`
}

// Measure scores a run and looks for the right answers in all it made on its
// way.
func Measure(q dataset.Question, run *orchestratorv1.Run) Measures {
	predicted := prediction(q, run)
	m := Measures{
		Answered:  predicted != "",
		Abstained: run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED,
		Partial:   run.GetPartial(),
		Scores:    score.Question(q, predicted),
		Graphs:    measureGraphs(q, run),
		Cost:      cost(run.GetUsage(), run.GetDuration().AsDuration()),
	}
	if g := run.GetGrounding(); g != orchestratorv1.Grounding_GROUNDING_UNSPECIFIED {
		m.Grounded, m.Answers = new(g == orchestratorv1.Grounding_GROUNDING_GROUNDED), new(len(run.GetAnswers()))
	}
	if run.Confidence != nil {
		m.Confidence = new(float64(run.GetConfidence()))
	}
	for _, stage := range run.GetStages() {
		if m.Stages == nil {
			m.Stages = make(map[string]Cost)
		}
		name := config.EnumName(stage.GetStage())
		m.Stages[name] = m.Stages[name].plus(cost(stage.GetUsage(), stage.GetDuration().AsDuration()))
	}
	return m
}

func cost(u *llmv1.Usage, took time.Duration) Cost {
	return Cost{
		Calls:            u.GetCalls(),
		CachedCalls:      u.GetCachedCalls(),
		PromptTokens:     u.GetPromptTokens(),
		CompletionTokens: u.GetCompletionTokens(),
		USD:              u.GetCostUsd(),

		CachedPromptTokens:     u.GetCachedPromptTokens(),
		CachedCompletionTokens: u.GetCachedCompletionTokens(),
		CachedUSD:              u.GetCachedCostUsd(),

		Milliseconds: float64(took) / float64(time.Millisecond),
	}
}

// plus adds a cost: a stage may be gone through several times.
func (c Cost) plus(d Cost) Cost {
	return Cost{
		Calls:            c.Calls + d.Calls,
		CachedCalls:      c.CachedCalls + d.CachedCalls,
		PromptTokens:     c.PromptTokens + d.PromptTokens,
		CompletionTokens: c.CompletionTokens + d.CompletionTokens,
		USD:              c.USD + d.USD,

		CachedPromptTokens:     c.CachedPromptTokens + d.CachedPromptTokens,
		CachedCompletionTokens: c.CachedCompletionTokens + d.CachedCompletionTokens,
		CachedUSD:              c.CachedUSD + d.CachedUSD,

		Milliseconds: c.Milliseconds + d.Milliseconds,
	}
}

// AllTokens returns those that the method takes, read and written, cached calls
// included; false where cached calls do not say what they took.
func (c Cost) AllTokens() (uint64, bool) {
	cached := c.CachedPromptTokens + c.CachedCompletionTokens
	return c.PromptTokens + c.CompletionTokens + cached, c.CachedCalls == 0 || cached > 0
}

// prediction returns what a run is scored by: its answers, one a line; its text,
// where it names none or the question is an open one; nothing where it
// abstained. Of a text that says first that the knowledge graph does not say,
// only the model's own is scored.
func prediction(q dataset.Question, run *orchestratorv1.Run) string {
	switch {
	case run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED:
		return ""
	case len(run.GetAnswers()) == 0, q.Kind == dataset.Open && run.GetText() != "":
		return kgtext.TrimOwnAnswer(run.GetText())
	}
	answers := make([]string, len(run.GetAnswers()))
	for i, answer := range run.GetAnswers() {
		answers[i] = answer.GetAnswer()
	}
	return oneALine(answers)
}

// oneALine keeps an answer with a line break in it from counting as two.
func oneALine(answers []string) string {
	lines := make([]string, len(answers))
	for i, answer := range answers {
		lines[i] = strings.ReplaceAll(answer, "\n", " ")
	}
	return strings.Join(lines, "\n")
}
