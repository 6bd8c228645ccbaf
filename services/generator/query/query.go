// Package query drafts query plans: what to compute from a knowledge graph.
package query

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// Config bounds what the model writes.
type Config struct {
	// MaxTokens is the most tokens written.
	MaxTokens int `koanf:"max_tokens"`
}

// DefaultConfig is what docs/results.md was measured with.
func DefaultConfig() Config { return Config{MaxTokens: 96} }

// Plan is a drafted plan.
type Plan struct {
	// Plan has no clauses if nothing could be read.
	Plan *graphv1.QueryPlan
	// Draft is what the model wrote.
	Draft string
	// Edits are what the words of the question changed.
	Edits    []*graphv1.PlanEdit
	Warnings []*llmv1.Warning
}

// Planner drafts plans.
type Planner struct {
	cfg    Config
	model  llm.Completer
	prompt *prompt.Prompt
}

// New returns a Planner.
func New(model llm.Completer, cfg Config) *Planner {
	return &Planner{cfg: cfg, model: model, prompt: prompt.Must(prompts.Files, "query_plan")}
}

// Plan asks the model for a plan in one call and corrects it by the words of the question.
func (p *Planner) Plan(ctx context.Context, question string, ledger *llm.Ledger) (Plan, error) {
	messages, err := p.prompt.Messages(struct{ Question string }{question})
	if err != nil {
		return Plan{}, err
	}
	resp, err := p.model.Complete(ctx, llm.Request{
		Task: "query-plan", Messages: messages, MaxTokens: p.cfg.MaxTokens, Ledger: ledger,
	})
	if err != nil && !errors.Is(err, llm.ErrUnusable) {
		return Plan{}, err
	}
	plan := Plan{Plan: Decode(resp.Text), Draft: resp.Text, Warnings: resp.Warnings()}
	if len(plan.Plan.GetClauses()) == 0 {
		plan.Warnings = append(plan.Warnings, llm.Warn(llm.WarnUnusable, "the model wrote nothing that is a plan"))
		return plan, nil
	}
	plan.Edits = Repair(question, plan.Plan)
	return plan, nil
}
