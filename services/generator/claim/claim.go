// Package claim reads off a text the facts that it states: PG&AKV's
// pseudo-graph, of what somebody else wrote.
package claim

import (
	"context"
	"errors"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// Reader reads claims.
type Reader struct {
	model     llm.Completer
	maxTokens int
	prompt    *prompt.Prompt
}

// New returns a Reader whose model writes at most maxTokens tokens for a part of
// a text.
func New(model llm.Completer, maxTokens int) *Reader {
	return &Reader{model: model, maxTokens: maxTokens, prompt: prompt.Must(prompts.Files, "claims")}
}

// Read asks the model for the facts that a text states, and finds where in it
// they stand. context is what stands before it. What the model names that
// neither of both has is left out, with a warning.
func (r *Reader) Read(ctx context.Context, text, before string, ledger *llm.Ledger) ([]*generatorv1.ExtractedClaim, []*llmv1.Warning, error) {
	messages, err := r.prompt.Messages(struct{ Text, Context string }{text, before})
	if err != nil {
		return nil, nil, err
	}
	resp, err := r.model.Complete(ctx, llm.Request{Task: "claims", Messages: messages, MaxTokens: r.maxTokens, Ledger: ledger})
	if errors.Is(err, llm.ErrUnusable) {
		return nil, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the model read no claims off a part of the text: %v", err)}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var warnings []*llmv1.Warning
	drafts := Parse(resp.Text)
	if resp.Cut() {
		warnings = append(warnings, llm.Warn(llm.WarnTruncated, "a part of the text states more than the model could write; its first %d claims were taken", len(drafts)))
	}
	if len(drafts) == 0 && !nothing[strings.ToLower(clean(strings.TrimRight(resp.Text, ".\n ")))] {
		warnings = append(warnings, llm.Warn(llm.WarnUnusable, "no claim could be read off what the model wrote of a part of the text"))
	}
	in := newReading(text)
	var claims []*generatorv1.ExtractedClaim
	strangers := 0
	for _, d := range drafts {
		c, ok := in.locate(d, before)
		if !ok {
			strangers++
			continue
		}
		claims = append(claims, c)
	}
	if strangers > 0 {
		warnings = append(warnings, llm.Warn(llm.WarnDropped, "%d claims that name nothing of the text were left out", strangers))
	}
	sort(claims)
	return claims, warnings, nil
}
