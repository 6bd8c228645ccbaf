package evaluator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

const (
	// tokensPerItem is an upper bound of one ranked item as JSON.
	tokensPerItem = 24
	// maxShown is the most characters shown of a candidate: a literal of a knowledge graph may be
	// as long as a whole prompt.
	maxShown = 200
)

// Ranker scores how much relations or entities help to answer a question: the pruning of ToG, in
// one call for a list.
type Ranker struct {
	model  llm.Completer
	prompt *prompt.Prompt
}

// NewRanker returns a Ranker.
func NewRanker(model llm.Completer) *Ranker {
	return &Ranker{model: model, prompt: prompt.Must(Prompts(), "rank_candidates")}
}

// Rank returns at most limit of the candidates, best first, with weights that
// add up to at most 1. If the model's output cannot be used, the first ones
// are returned with equal weights and a warning.
func (r *Ranker) Rank(ctx context.Context, question, about string, candidates []string, limit int,
	ledger *llm.Ledger) ([]*evaluatorv1.RankedCandidate, []*llmv1.Warning, error) {
	messages, err := r.prompt.Messages(struct {
		Question, Context string
		Candidates        []string
	}{question, about, truncate(candidates)})
	if err != nil {
		return nil, nil, err
	}
	said, resp, err := llm.CompleteJSON[struct {
		Ranked []struct {
			Item   int     `json:"item"`
			Weight float32 `json:"weight"`
		} `json:"ranked"`
	}](ctx, r.model, llm.Request{
		Task: "rank-candidates", Messages: messages, MaxTokens: tokensPerItem*limit + 16, Ledger: ledger,
		Schema: rankSchema(len(candidates), limit),
	})
	if err != nil && !errors.Is(err, llm.ErrUnusable) {
		return nil, nil, err
	}
	var ranked []*evaluatorv1.RankedCandidate
	taken := map[int]bool{}
	for _, s := range said.Ranked {
		if s.Item < 1 || s.Item > len(candidates) || taken[s.Item] ||
			!(s.Weight >= 0 && s.Weight <= 1) {
			continue
		}
		taken[s.Item] = true
		ranked = append(ranked, &evaluatorv1.RankedCandidate{Index: uint32(s.Item - 1), Score: s.Weight})
	}
	if len(ranked) == 0 {
		n := min(limit, len(candidates))
		for i := range n {
			ranked = append(ranked, &evaluatorv1.RankedCandidate{Index: uint32(i), Score: 1 / float32(n)})
		}
		return ranked, []*llmv1.Warning{llm.Warn(llm.WarnUnusable,
			"the model ranked none of %d candidates; the first %d were taken", len(candidates), n)}, nil
	}
	slices.SortStableFunc(ranked, func(a, b *evaluatorv1.RankedCandidate) int { return cmp.Compare(b.Score, a.Score) })
	ranked = ranked[:min(len(ranked), limit)] // a model may rank all
	var sum float32
	for _, c := range ranked {
		sum += c.Score
	}
	if sum > 1 {
		for _, c := range ranked {
			c.Score /= sum
		}
	}
	return ranked, resp.Warnings(), nil
}

// truncate cuts candidates to maxShown characters.
func truncate(candidates []string) []string {
	shown := make([]string, len(candidates))
	for i, c := range candidates {
		shown[i] = c
		if runes := []rune(c); len(runes) > maxShown {
			shown[i] = string(runes[:maxShown]) + "…"
		}
	}
	return shown
}

func rankSchema(n, limit int) *llm.Schema {
	return &llm.Schema{Name: "ranked", JSON: fmt.Appendf(nil,
		`{"type":"object","additionalProperties":false,"required":["ranked"],`+
			`"properties":{"ranked":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"object",`+
			`"additionalProperties":false,"required":["item","weight"],`+
			`"properties":{"item":{"type":"integer","minimum":1,"maximum":%d},`+
			`"weight":{"type":"number","minimum":0,"maximum":1}}}}}}`,
		limit, n)}
}
