package verifier

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
)

// Editor lets the model correct the alignment: it decides on each draft and refers to evidence by
// number, so that it cannot misspell it.
type Editor struct {
	model         llm.Completer
	tokensPerEdit int
	prompt        *prompt.Prompt
}

// NewEditor returns an Editor whose model writes at most tokensPerEdit tokens for each draft.
func NewEditor(model llm.Completer, tokensPerEdit int) *Editor {
	return &Editor{model: model, tokensPerEdit: tokensPerEdit, prompt: prompt.Must(Prompts(), "edits")}
}

// editAnswer is the model's JSON. Numbers count from 1; 0 is none.
type editAnswer struct {
	Edits []struct {
		Draft    int    `json:"draft"`
		Action   string `json:"action"`
		Evidence int    `json:"evidence"`
	} `json:"edits"`
	Add []int `json:"add"`
}

// Edit corrects drafts by the evidence, which is in the order of the prompt. For a draft that the
// model skips the alignment's edit stays. The error is llm.ErrUnusable if the model's output could
// not be parsed.
func (e *Editor) Edit(ctx context.Context, question string, drafts *graphv1.PseudoGraph, pool []*graphv1.ScoredTriple,
	aligned align.Alignment, ledger *llm.Ledger) (align.Alignment, []*llmv1.Warning, error) {
	number := map[*graphv1.ScoredTriple]int{}
	for i, t := range pool {
		number[t] = i + 1
	}
	lines := make([]string, len(drafts.GetTriples()))
	for i, d := range drafts.GetTriples() {
		lines[i] = kgtext.FormatFact(d)
		if near := aligned.Edits[i].GetEvidence(); len(near) > 0 && number[near[0]] > 0 {
			lines[i] += fmt.Sprintf(" (nearest evidence %d)", number[near[0]])
		}
	}
	messages, err := e.prompt.Messages(struct {
		Question        string
		Evidence, Draft []string
	}{question, align.EvidenceLines(pool), lines})
	if err != nil {
		return align.Alignment{}, nil, err
	}
	said, resp, err := llm.CompleteJSON[editAnswer](ctx, e.model, llm.Request{
		Task: "verify", Messages: messages, Ledger: ledger,
		MaxTokens: e.tokensPerEdit*(len(lines)+1) + 64,
		Schema:    editSchema(len(lines), len(pool)),
	})
	if err != nil {
		return align.Alignment{}, nil, err
	}
	return applyEdits(said, drafts, pool, aligned), resp.Warnings(), nil
}

func applyEdits(said editAnswer, drafts *graphv1.PseudoGraph, pool []*graphv1.ScoredTriple,
	aligned align.Alignment) align.Alignment {
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
			edits[s.Draft-1] = align.EditByEvidence(draft, e)
		case s.Action == "keep":
			edits[s.Draft-1] = &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_KEEP, Before: draft, After: draft}
			if e != nil && align.SameWording(draft, e.GetTriple()) {
				edits[s.Draft-1] = align.EditByEvidence(draft, e)
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
			edits = append(edits, &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_ADD, After: e.GetTriple(),
				Evidence: []*graphv1.ScoredTriple{e}})
		}
	}
	return align.FromEdits(edits)
}

func editSchema(drafts, pool int) *llm.Schema {
	numbers := func(from, to int) json.RawMessage {
		all := make([]int, 0, to-from+1)
		for i := from; i <= to; i++ {
			all = append(all, i)
		}
		b, _ := json.Marshal(all) // a slice of ints always marshals
		return b
	}
	add := fmt.Sprintf(`{"type":"array","maxItems":%d,"items":{"type":"integer","enum":%s}}`, min(pool, 12),
		numbers(1, max(pool, 1)))
	return &llm.Schema{Name: "edits", JSON: fmt.Appendf(nil,
		`{"type":"object","additionalProperties":false,"required":["edits","add"],"properties":{`+
			`"edits":{"type":"array","minItems":%d,"maxItems":%d,"items":{"type":"object",`+
			`"additionalProperties":false,"required":["draft","action","evidence"],"properties":{`+
			`"draft":{"type":"integer","enum":%s},"action":{"type":"string","enum":["keep","replace","delete"]},`+
			`"evidence":{"type":"integer","enum":%s}}}},"add":%s}}`,
		drafts, drafts, numbers(1, drafts), numbers(0, pool), add)}
}
