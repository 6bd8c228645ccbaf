// Package paths plans which relations lead from the topic entities to
// the answer (Ger §3.2): from the model's own knowledge, or by choice among
// paths that exist.
package paths

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// maxHops is the longest path that the API carries.
const maxHops = 8

// Planner plans relation paths.
type Planner struct {
	cfg     Config
	model   llm.Completer
	propose *prompt.Prompt
	choose  *prompt.Prompt
}

// New returns a Planner.
func New(model llm.Completer, cfg Config) *Planner {
	return &Planner{
		cfg:     cfg,
		model:   model,
		propose: prompt.Must(prompts.Files, "relation_paths_propose"),
		choose:  prompt.Must(prompts.Files, "relation_paths_choose"),
	}
}

// PlanMessages is the prompt of Propose.
func (p *Planner) PlanMessages(question string, topicEntities []string) ([]llm.Message, error) {
	if p.cfg.Format == FormatRoG {
		return p.instruct(question, topicEntities), nil
	}
	return p.propose.Messages(struct {
		Question      string
		TopicEntities []string
	}{question, topicEntities})
}

// Propose asks the model for the relations that it expects, in its own words or, if it is
// fine-tuned on the graph, by name: they need not exist. At most limit paths are returned,
// likeliest first.
func (p *Planner) Propose(ctx context.Context, question string, topicEntities []string, limit int,
	ledger *llm.Ledger) ([]*graphv1.RelationPath, []*llmv1.Warning, error) {
	if p.cfg.Format == FormatRoG {
		return p.proposeFineTuned(ctx, question, topicEntities, limit, ledger)
	}
	messages, err := p.PlanMessages(question, topicEntities)
	if err != nil {
		return nil, nil, err
	}
	resp, err := p.model.Complete(ctx, llm.Request{
		Task: "relation-paths", Messages: messages, MaxTokens: p.cfg.ProposeTokens, Ledger: ledger,
	})
	if errors.Is(err, llm.ErrUnusable) {
		return nil, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the model proposed no relation paths: %v", err)}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	paths := Parse(resp.Text, limit)
	if len(paths) == 0 || kgtext.IsForeignScript(resp.Text, messages[len(messages)-1].Content) {
		return nil, []*llmv1.Warning{llm.Warn(llm.WarnUnusable,
			"no relation path could be read off the model's output")}, nil
	}
	if resp.FinishReason == llm.FinishLength { // the first lines are what was asked for
		return paths, nil, nil
	}
	return paths, resp.Warnings(), nil
}

// Choose asks the model which of the existing paths lead to the answer. At most limit are returned,
// in the model's order. If it chooses none, the first ones are returned, with a warning.
func (p *Planner) Choose(ctx context.Context, question string, existing []*graphv1.RelationPath, limit int,
	ledger *llm.Ledger) ([]*graphv1.RelationPath, []*llmv1.Warning, error) {
	lines := make([]string, len(existing))
	for i, path := range existing {
		lines[i] = strings.Join(path.GetTopicEntities(), ", ") + " -> " + kgtext.FormatSteps(path.GetSteps())
	}
	messages, err := p.choose.Messages(struct {
		Question string
		Paths    []string
	}{question, lines})
	if err != nil {
		return nil, nil, err
	}
	choice, resp, err := llm.CompleteJSON[struct {
		Paths []int `json:"paths"`
	}](ctx, p.model, llm.Request{
		Task: "relation-paths", Messages: messages, MaxTokens: p.cfg.ChooseTokens, Ledger: ledger,
		Schema: choiceSchema(len(existing), limit),
	})
	if err != nil && !errors.Is(err, llm.ErrUnusable) {
		return nil, nil, err
	}
	var chosen []*graphv1.RelationPath
	taken := map[int]bool{}
	for _, n := range choice.Paths {
		if n < 1 || n > len(existing) || taken[n] || len(chosen) == limit {
			continue
		}
		taken[n] = true
		chosen = append(chosen, existing[n-1])
	}
	if len(chosen) == 0 {
		chosen = existing[:min(limit, len(existing))]
		return chosen, []*llmv1.Warning{llm.Warn(llm.WarnUnusable,
			"the model chose none of %d relation paths; the first %d were taken", len(existing), len(chosen))}, nil
	}
	return chosen, resp.Warnings(), nil
}

func choiceSchema(n, limit int) *llm.Schema {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i + 1
	}
	enum, _ := json.Marshal(numbers) // a slice of ints always marshals
	return &llm.Schema{Name: "paths", JSON: fmt.Appendf(nil,
		`{"type":"object","additionalProperties":false,"required":["paths"],`+
			`"properties":{"paths":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"integer","enum":%s}}}}`,
		limit, enum)}
}

// Parse reads relation paths from a model's text: one a line, hops joined by "->" or "→"; list
// marks and lines that announce a list are skipped. The first limit distinct paths are returned.
// RoG's "<PATH> r1 <SEP> r2 </PATH>" is accepted too.
func Parse(text string, limit int) []*graphv1.RelationPath {
	text = rogMarks.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	var paths []*graphv1.RelationPath
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if len(paths) == limit {
			break
		}
		if strings.HasSuffix(strings.TrimSpace(line), ":") {
			continue
		}
		path := &graphv1.RelationPath{}
		for hop := range strings.SplitSeq(line, "->") {
			if hop = clean(hop); hop != "" && len(path.Steps) < maxHops {
				path.Steps = append(path.Steps, &graphv1.RelationStep{Relation: hop})
			}
		}
		key := kgtext.FormatSteps(path.Steps)
		if len(path.Steps) == 0 || seen[key] {
			continue
		}
		seen[key] = true
		paths = append(paths, path)
	}
	return paths
}

var rogMarks = strings.NewReplacer("→", "->", "<SEP>", "->", "<PATH>", "\n", "</PATH>", "\n", "```", "\n")

// longestHop is more bytes than any relation has; longer hops are prose.
const longestHop = 120

// listMark is what a model puts before the lines of a list.
var listMark = regexp.MustCompile(`^(?:[-*•]+|\d+[.)])(?:\s+|$)`)

// clean strips list marks and quotes from a hop. What holds no letter is none.
func clean(hop string) string {
	hop = listMark.ReplaceAllString(strings.TrimSpace(hop), "")
	hop = strings.Join(strings.Fields(strings.Trim(hop, "\"'` .;,")), " ")
	if len(hop) > longestHop || !strings.ContainsFunc(hop, unicode.IsLetter) {
		return ""
	}
	return hop
}
