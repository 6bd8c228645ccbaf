// Package plan writes the pseudo-graph: the facts a question needs, as the
// model imagines them (PG&AKV §III-A).
package plan

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/cypher"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// maxTriples is far more than a question needs and less than a loop in the
// model's Cypher makes.
const maxTriples = 64

// Planner writes pseudo-graphs.
type Planner struct {
	model     llm.Completer
	maxTokens int
	prompt    *prompt.Prompt
}

// New returns a Planner whose Cypher has at most maxTokens tokens.
func New(model llm.Completer, maxTokens int) *Planner {
	return &Planner{model: model, maxTokens: maxTokens, prompt: prompt.Must(prompts.Files, "pseudo_graph")}
}

// Plan is what the model wrote and what became of it.
type Plan struct {
	PseudoGraph *graphv1.PseudoGraph
	Cypher      string
	Diagnostics []*generatorv1.CypherDiagnostic
	Warnings    []*llmv1.Warning
}

// PseudoGraph asks the model for the facts a question needs and runs its
// Cypher in a scratch graph. Output that holds no fact gives an empty graph
// with a warning: retrieval then goes by the question alone.
func (p *Planner) PseudoGraph(ctx context.Context, question string, ledger *llm.Ledger) (Plan, error) {
	out := Plan{PseudoGraph: &graphv1.PseudoGraph{}}
	messages, err := p.prompt.Messages(struct{ Question string }{question})
	if err != nil {
		return Plan{}, err
	}
	resp, err := p.model.Complete(ctx, llm.Request{
		Task: "pseudo-graph", Messages: messages, MaxTokens: p.maxTokens, Ledger: ledger,
	})
	if errors.Is(err, llm.ErrUnusable) {
		out.Warnings = append(out.Warnings, llm.Warn(llm.WarnUnusable, "the model planned no facts: %v", err))
		return out, nil
	}
	if err != nil {
		return Plan{}, err
	}
	out.Cypher, out.Warnings = resp.Text, resp.Warnings()
	decoded, diagnostics, err := cypher.Decode(ctx, resp.Text, cypher.DefaultLimits())
	if err != nil {
		if ctx.Err() != nil {
			return Plan{}, ctx.Err()
		}
		out.Warnings = append(out.Warnings, llm.Warn(llm.WarnUnusable, "the model's Cypher was run as far as it went: %v", err))
	}
	for _, d := range diagnostics {
		out.Diagnostics = append(out.Diagnostics, &generatorv1.CypherDiagnostic{
			Line: uint32(d.Line), Column: uint32(d.Column), Message: d.Message,
		})
	}
	if n := len(decoded.Triples); n > maxTriples {
		out.Warnings = append(out.Warnings, llm.Warn(llm.WarnDropped, "the model planned %d facts; the first %d were kept", n, maxTriples))
		decoded.Triples = decoded.Triples[:maxTriples]
	}
	for _, t := range decoded.Triples {
		out.PseudoGraph.Triples = append(out.PseudoGraph.Triples, &graphv1.Triple{
			Subject: t.Subject, Relation: t.Relation, Object: t.Object,
		})
	}
	if len(out.PseudoGraph.Triples) == 0 {
		out.Warnings = append(out.Warnings, llm.Warn(llm.WarnUnusable, "the model's Cypher holds no fact"))
	}
	return out, nil
}
