package reflection

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// others are the ends that are no candidates, best path first.
func (r *Reflector) others(c Case, groups []*verbalise.PathGroup) []string {
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

// Messages are what the model is asked, and the answers among which it may
// choose: the candidates first, then the other ends.
func (r *Reflector) Messages(c Case) (messages []llm.Message, options []string, err error) {
	return r.messages(c, verbalise.Group(c.Paths))
}

func (r *Reflector) messages(c Case, groups []*verbalise.PathGroup) (messages []llm.Message, options []string, err error) {
	others := r.others(c, groups)
	var candidates []string
	for _, candidate := range c.Candidates {
		candidates = append(candidates, candidate.GetAnswer()+describe(c.Verdicts[candidate.GetAnswer()]))
		options = append(options, candidate.GetAnswer())
	}
	messages, err = r.prompt.Messages(struct {
		Question, Review          string
		Lines, Candidates, Others []string
	}{c.Question, c.Verdict.GetReason(), verbalise.Lines(groups, r.cfg.MaxGroups, r.cfg.MaxEnds), candidates, others})
	return messages, append(options, others...), err
}

// ask asks the model for the final answers. The error is llm.ErrUnusable where
// its output cannot be read.
func (r *Reflector) ask(ctx context.Context, c Case, groups []*verbalise.PathGroup, ledger *llm.Ledger) ([]string, []*llmv1.Warning, error) {
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

// describe shows a verdict beside a candidate.
func describe(v *evaluatorv1.AnswerVerdict) string {
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
		`{"type":"object","additionalProperties":false,"required":["answers"],"properties":{"answers":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"string","enum":%s}}}}`,
		len(options), enum)}
}
