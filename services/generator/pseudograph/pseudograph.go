// Package pseudograph drafts the facts that a question needs, as the model imagines them
// (PG&AKV §III-A).
package pseudograph

import (
	"context"
	"errors"
	"strconv"

	"github.com/triplemesh/triplemesh/internal/cypher"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// Config bounds what the model drafts.
type Config struct {
	// MaxTokens is the most tokens of the Cypher.
	MaxTokens int `koanf:"max_tokens"`
	// MinFacts and MaxFacts are how many facts the prompt asks for.
	MinFacts int `koanf:"min_facts"`
	MaxFacts int `koanf:"max_facts"`
	// MaxTriples is the most triples taken: far more than a question needs and fewer than a loop in
	// the model's Cypher makes.
	MaxTriples int `koanf:"max_triples"`
}

// DefaultConfig is what docs/results.md was measured with.
func DefaultConfig() Config { return Config{MaxTokens: 192, MinFacts: 2, MaxFacts: 4, MaxTriples: 64} }

// Validate returns an error that names the first invalid setting.
func (c Config) Validate() error {
	switch {
	case min(c.MaxTokens, c.MinFacts, c.MaxTriples) < 1:
		return errors.New("pseudo_graph: max_tokens, min_facts and max_triples must be at least 1")
	case c.MaxFacts < c.MinFacts:
		return errors.New("pseudo_graph.max_facts must be at least min_facts")
	}
	return nil
}

// Prompt returns the prompt of the pseudo-graph, with the number of facts that it asks for.
func (c Config) Prompt() *prompt.Prompt {
	return prompt.Must(prompts.Files, "pseudo_graph").Fill("{facts}", c.facts())
}

// facts is the number of facts in words: "two to four".
func (c Config) facts() string {
	if c.MinFacts == c.MaxFacts {
		return numeral(c.MinFacts)
	}
	return numeral(c.MinFacts) + " to " + numeral(c.MaxFacts)
}

func numeral(n int) string {
	words := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// Planner drafts pseudo-graphs.
type Planner struct {
	cfg    Config
	model  llm.Completer
	prompt *prompt.Prompt
}

// New returns a Planner.
func New(model llm.Completer, cfg Config) *Planner {
	return &Planner{cfg: cfg, model: model, prompt: cfg.Prompt()}
}

// Plan is what the model wrote and the graph that it makes.
type Plan struct {
	PseudoGraph *graphv1.PseudoGraph
	Cypher      string
	Diagnostics []*generatorv1.CypherDiagnostic
	Warnings    []*llmv1.Warning
}

// PseudoGraph asks the model for the facts that a question needs and runs its Cypher in a scratch
// graph. Output without a fact gives an empty graph with a warning: retrieval then uses the
// question alone.
func (p *Planner) PseudoGraph(ctx context.Context, question string, ledger *llm.Ledger) (Plan, error) {
	out := Plan{PseudoGraph: &graphv1.PseudoGraph{}}
	messages, err := p.prompt.Messages(struct{ Question string }{question})
	if err != nil {
		return Plan{}, err
	}
	resp, err := p.model.Complete(ctx, llm.Request{
		Task: "pseudo-graph", Messages: messages, MaxTokens: p.cfg.MaxTokens, Ledger: ledger,
	})
	if errors.Is(err, llm.ErrUnusable) {
		out.warn(llm.WarnUnusable, "the model planned no facts: %v", err)
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
		out.warn(llm.WarnUnusable, "the model's Cypher was run as far as it went: %v", err)
	}
	for _, d := range diagnostics {
		out.Diagnostics = append(out.Diagnostics, &generatorv1.CypherDiagnostic{
			Line: uint32(d.Line), Column: uint32(d.Column), Message: d.Message,
		})
	}
	if n := len(decoded.Triples); n > p.cfg.MaxTriples {
		out.warn(llm.WarnDropped, "the model planned %d facts; the first %d were kept", n, p.cfg.MaxTriples)
		decoded.Triples = decoded.Triples[:p.cfg.MaxTriples]
	}
	for _, t := range decoded.Triples {
		out.PseudoGraph.Triples = append(out.PseudoGraph.Triples, &graphv1.Triple{
			Subject: t.Subject, Relation: t.Relation, Object: t.Object,
		})
	}
	if len(out.PseudoGraph.Triples) == 0 {
		out.warn(llm.WarnUnusable, "the model's Cypher holds no fact")
	}
	return out, nil
}

func (p *Plan) warn(code, format string, args ...any) {
	p.Warnings = append(p.Warnings, llm.Warn(code, format, args...))
}
