package reflector

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// otherEnds are the path ends that are not candidates, best path first.
func (r *Reflector) otherEnds(c Case, groups []*kgtext.PathGroup) []string {
	seen := map[string]bool{}
	for _, candidate := range c.Candidates {
		seen[candidate.GetAnswer()] = true
	}
	var others []string
	for _, g := range groups {
		for _, end := range g.Ends {
			if !seen[end] && len(others) < r.cfg.MaxOthers {
				seen[end] = true
				others = append(others, end)
			}
		}
	}
	return others
}

// Messages returns the prompt and the answers that the model may choose from: the candidates, then
// the other ends.
func (r *Reflector) Messages(c Case) (messages []llm.Message, options []string, err error) {
	return r.messages(c, kgtext.GroupPaths(c.Paths))
}

func (r *Reflector) messages(c Case,
	groups []*kgtext.PathGroup) (messages []llm.Message, options []string, err error) {
	others := r.otherEnds(c, groups)
	var candidates []string
	for _, candidate := range c.Candidates {
		candidates = append(candidates, candidate.GetAnswer()+verdictLabel(c.Verdicts[candidate.GetAnswer()]))
		options = append(options, candidate.GetAnswer())
	}
	messages, err = r.prompt.Messages(struct {
		Question, Review          string
		Lines, Candidates, Others []string
	}{c.Question, c.Verdict.GetReason(), kgtext.FormatGroups(groups, r.cfg.MaxGroups, r.cfg.MaxEnds),
		candidates, others})
	return messages, append(options, others...), err
}

// ask asks the model for the final answers. The error is llm.ErrUnusable if its output cannot be
// parsed.
func (r *Reflector) ask(ctx context.Context, c Case, groups []*kgtext.PathGroup,
	ledger *llm.Ledger) ([]string, []*llmv1.Warning, error) {
	messages, options, err := r.messages(c, groups)
	if err != nil {
		return nil, nil, err
	}
	said, resp, err := llm.CompleteJSON[struct {
		Answers []string `json:"answers"`
	}](ctx, r.model, llm.Request{
		Task: "reflect", Messages: messages, MaxTokens: r.cfg.MaxTokens, Ledger: ledger, Schema: schema(options),
	})
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, o := range options {
		known[o] = true
	}
	var wanted []string
	for _, a := range said.Answers {
		if known[a] {
			known[a] = false // each once
			wanted = append(wanted, a)
		}
	}
	return wanted, resp.Warnings(), nil
}

// verdictLabel is a verdict in the prompt, behind a candidate.
func verdictLabel(v *graphv1.AnswerVerdict) string {
	if v == nil || v.GetUnknown() {
		return ""
	}
	word := "wrong"
	if v.GetCorrect() {
		word = "right"
	}
	if v.Probability == nil {
		return " (judged " + word + ")"
	}
	return fmt.Sprintf(" (judged %s, %.2f)", word, v.GetProbability())
}

func schema(options []string) *llm.Schema {
	enum, _ := json.Marshal(options) // a slice of strings always marshals
	return &llm.Schema{Name: "answers", JSON: fmt.Appendf(nil,
		`{"type":"object","additionalProperties":false,"required":["answers"],`+
			`"properties":{"answers":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"string","enum":%s}}}}`,
		len(options), enum)}
}
