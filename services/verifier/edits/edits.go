// Package edits lets the model correct the alignment: it says what to do with
// each draft and points at evidence by number, so that it cannot misspell it.
package edits

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
	"github.com/triplemesh/triplemesh/services/verifier/evidence"
	"github.com/triplemesh/triplemesh/services/verifier/prompts"
)

// tokensPerEdit is what one edit takes to write as JSON, with room.
const tokensPerEdit = 32

// Editor asks the model for edits.
type Editor struct {
	model  llm.Completer
	prompt *prompt.Prompt
}

// New returns an Editor.
func New(model llm.Completer) *Editor {
	return &Editor{model: model, prompt: prompt.Must(prompts.Files, "edits")}
}

// answer is the model's JSON. Numbers count from 1; 0 is none.
type answer struct {
	Edits []struct {
		Draft    int    `json:"draft"`
		Action   string `json:"action"`
		Evidence int    `json:"evidence"`
	} `json:"edits"`
	Add []int `json:"add"`
}

// Edit corrects drafts by the evidence, which stands in the order of the
// prompt. A draft that the model passes over is treated as the alignment
// treats it. The error is llm.ErrUnusable where the model's output could not
// be read.
func (e *Editor) Edit(ctx context.Context, question string, drafts *graphv1.PseudoGraph, pool []*graphv1.ScoredTriple, aligned align.Alignment, ledger *llm.Ledger) (align.Alignment, []*llmv1.Warning, error) {
	number := map[*graphv1.ScoredTriple]int{}
	for i, t := range pool {
		number[t] = i + 1
	}
	lines := make([]string, len(drafts.GetTriples()))
	for i, d := range drafts.GetTriples() {
		lines[i] = verbalise.Fact(d)
		if near := aligned.Edits[i].GetEvidence(); len(near) > 0 && number[near[0]] > 0 {
			lines[i] += fmt.Sprintf(" (nearest evidence %d)", number[near[0]])
		}
	}
	messages, err := e.prompt.Messages(struct {
		Question        string
		Evidence, Draft []string
	}{question, evidence.Lines(pool), lines})
	if err != nil {
		return align.Alignment{}, nil, err
	}
	said, resp, err := llm.CompleteJSON[answer](ctx, e.model, llm.Request{
		Task: "verify", Messages: messages, Ledger: ledger,
		MaxTokens: tokensPerEdit*(len(lines)+1) + 64,
		Schema:    schema(len(lines), len(pool)),
	})
	if err != nil {
		return align.Alignment{}, nil, err
	}
	return apply(said, drafts, pool, aligned), resp.Warnings(), nil
}

func apply(said answer, drafts *graphv1.PseudoGraph, pool []*graphv1.ScoredTriple, aligned align.Alignment) align.Alignment {
	at := func(n int) *graphv1.ScoredTriple {
		if n < 1 || n > len(pool) {
			return nil
		}
		return pool[n-1]
	}
	n := len(drafts.GetTriples())
	edits := append([]*graphv1.Edit(nil), aligned.Edits[:n]...)
	for _, s := range said.Edits {
		if s.Draft < 1 || s.Draft > n {
			continue
		}
		draft, e := drafts.GetTriples()[s.Draft-1], at(s.Evidence)
		switch {
		case s.Action == "delete":
			edits[s.Draft-1] = &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_DELETE, Before: draft}
			if e != nil {
				edits[s.Draft-1].Evidence = []*graphv1.ScoredTriple{e}
			}
		case s.Action == "replace" && e != nil:
			edits[s.Draft-1] = align.Settle(draft, e)
		case s.Action == "keep":
			edits[s.Draft-1] = &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_KEEP, Before: draft, After: draft}
			if e != nil && align.Same(draft, e.GetTriple()) {
				edits[s.Draft-1] = align.Settle(draft, e)
			}
		}
	}
	stands := map[string]bool{}
	for _, e := range edits {
		stands[align.Key(e.GetAfter())] = true
	}
	for _, m := range said.Add {
		if e := at(m); e != nil && !stands[align.Key(e.GetTriple())] {
			stands[align.Key(e.GetTriple())] = true
			edits = append(edits, &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_ADD, After: e.GetTriple(), Evidence: []*graphv1.ScoredTriple{e}})
		}
	}
	return align.FromEdits(edits)
}

func schema(drafts, pool int) *llm.Schema {
	numbers := func(from, to int) json.RawMessage {
		all := make([]int, 0, to-from+1)
		for i := from; i <= to; i++ {
			all = append(all, i)
		}
		b, _ := json.Marshal(all) // a slice of ints always marshals
		return b
	}
	add := fmt.Sprintf(`{"type":"array","maxItems":%d,"items":{"type":"integer","enum":%s}}`, min(pool, 12), numbers(1, max(pool, 1)))
	return &llm.Schema{Name: "edits", JSON: fmt.Appendf(nil, `{"type":"object","additionalProperties":false,"required":["edits","add"],"properties":{`+
		`"edits":{"type":"array","minItems":%d,"maxItems":%d,"items":{"type":"object","additionalProperties":false,"required":["draft","action","evidence"],"properties":{`+
		`"draft":{"type":"integer","enum":%s},"action":{"type":"string","enum":["keep","replace","delete"]},"evidence":{"type":"integer","enum":%s}}}},"add":%s}}`,
		drafts, drafts, numbers(1, drafts), numbers(0, pool), add)}
}
