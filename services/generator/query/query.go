// Package query drafts query plans: what to compute from a knowledge graph.
package query

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/cypher"
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
	cfg           Config
	model         llm.Completer
	chain, cypher *prompt.Prompt
}

// New returns a Planner.
func New(model llm.Completer, cfg Config) *Planner {
	return &Planner{cfg: cfg, model: model, chain: prompt.Must(prompts.Files, "query_plan"),
		cypher: prompt.Must(prompts.Files, "query_cypher")}
}

// Plan asks the model for a plan in one call and corrects it by the words of the question.
func (p *Planner) Plan(ctx context.Context, question string, ledger *llm.Ledger) (Plan, error) {
	plan, err := p.draft(ctx, p.chain, struct{ Question string }{question}, ledger)
	if err != nil {
		return Plan{}, err
	}
	plan.Plan = Decode(plan.Draft)
	if len(plan.Plan.GetClauses()) == 0 {
		plan.warn("the model wrote nothing that is a plan")
		return plan, nil
	}
	if plan.Edits = Repair(question, plan.Plan); len(plan.Plan.GetClauses()) == 0 {
		plan.warn("the model compares what no plan compares")
	}
	return plan, nil
}

// PlanBySchema asks the model for Cypher in the names of a schema and reads it as it stands, as graph
// chains do.
func (p *Planner) PlanBySchema(ctx context.Context, question string, schema []string,
	ledger *llm.Ledger) (Plan, error) {
	plan, err := p.draft(ctx, p.cypher, struct {
		Question string
		Schema   []string
	}{question, schema}, ledger)
	if err != nil {
		return Plan{}, err
	}
	plan.Plan = &graphv1.QueryPlan{}
	statement, err := cypher.ReadExactPlan(findStatement(plan.Draft))
	if err != nil {
		plan.warn(err.Error())
		return plan, nil
	}
	plan.Plan = newPlan(statement)
	return plan, nil
}

func (p *Planner) draft(ctx context.Context, template *prompt.Prompt, data any, ledger *llm.Ledger) (Plan, error) {
	messages, err := template.Messages(data)
	if err != nil {
		return Plan{}, err
	}
	resp, err := p.model.Complete(ctx, llm.Request{
		Task: "query-plan", Messages: messages, MaxTokens: p.cfg.MaxTokens, Ledger: ledger,
	})
	if err != nil && !errors.Is(err, llm.ErrUnusable) {
		return Plan{}, err
	}
	return Plan{Draft: resp.Text, Warnings: resp.Warnings()}, nil
}

func (p *Plan) warn(text string) {
	p.Warnings = append(p.Warnings, llm.Warn(llm.WarnUnusable, "%s", text))
}

// Read reads a plan that a person wrote, in the notation of drafts or as Cypher. It changes nothing of it.
// The error says what cannot be read.
func Read(text string) (Plan, error) {
	statement := findStatement(text)
	if cypherForm.MatchString(text) {
		statement = text
	}
	if statement != "" {
		plan, err := cypher.ReadPlan(statement)
		if err != nil {
			return Plan{}, err
		}
		return Plan{Plan: newPlan(plan), Draft: text}, nil
	}
	plan := Decode(text)
	if len(plan.GetClauses()) == 0 {
		return Plan{}, errors.New(`read query plan: no chain such as Film(directed_by="A").count() and no Cypher ` +
			`such as MATCH (f)-[:DIRECTED_BY]->({name: "A"}) RETURN count(f) in it`)
	}
	return Plan{Plan: plan, Draft: text}, nil
}
