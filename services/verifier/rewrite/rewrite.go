// Package rewrite lets the model write the fixed graph afresh, as published
// (PG&AKV §III-B, pseudo-graph verification), and reads off what it changed.
package rewrite

import (
	"context"
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
	"github.com/triplemesh/triplemesh/services/verifier/evidence"
	"github.com/triplemesh/triplemesh/services/verifier/prompts"
)

const (
	// maxTokens is room for some fifteen triples.
	maxTokens = 384
	// maxTriples bounds what is read off one rewriting.
	maxTriples = 200
)

// Rewriter asks the model for the fixed graph.
type Rewriter struct {
	model  llm.Completer
	prompt *prompt.Prompt
}

// New returns a Rewriter.
func New(model llm.Completer) *Rewriter {
	return &Rewriter{model: model, prompt: prompt.Must(prompts.Files, "rewrite")}
}

// Rewrite returns the model's fixed graph and the edits that lead to it. The
// error is llm.ErrUnusable where it wrote no triple.
func (r *Rewriter) Rewrite(ctx context.Context, question string, drafts *graphv1.PseudoGraph, pool []*graphv1.ScoredTriple, ledger *llm.Ledger) (align.Alignment, []*llmv1.Warning, error) {
	lines := make([]string, len(drafts.GetTriples()))
	for i, d := range drafts.GetTriples() {
		lines[i] = verbalise.Fact(d)
	}
	messages, err := r.prompt.Messages(struct {
		Question        string
		Evidence, Draft []string
	}{question, evidence.Lines(pool), lines})
	if err != nil {
		return align.Alignment{}, nil, err
	}
	resp, err := r.model.Complete(ctx, llm.Request{Task: "verify", Messages: messages, MaxTokens: maxTokens, Ledger: ledger})
	if err != nil {
		return align.Alignment{}, nil, err
	}
	text := resp.Text
	if resp.Cut() { // its last line is half a triple
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	written := Parse(text)
	if len(written) == 0 {
		return align.Alignment{}, nil, llm.ErrUnusable
	}
	return align.FromEdits(Diff(drafts.GetTriples(), written, pool)), resp.Warnings(), nil
}

// Parse reads triples off lines "subject | relation | object". A time in
// brackets at the end is left to the evidence, which knows it better. Other
// lines are passed over.
func Parse(text string) []*graphv1.Triple {
	var triples []*graphv1.Triple
	seen := map[string]bool{}
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		parts := strings.Split(line, "|")
		if len(parts) != 3 || len(triples) == maxTriples {
			continue
		}
		for i := range parts {
			parts[i] = strings.Join(strings.Fields(parts[i]), " ")
		}
		subject, object := listMark.ReplaceAllString(parts[0], ""), validity.ReplaceAllString(parts[2], "")
		if subject == "" || parts[1] == "" || object == "" {
			continue
		}
		t := &graphv1.Triple{Subject: subject, Relation: parts[1], Object: object}
		if k := align.Key(t); !seen[k] {
			seen[k] = true
			triples = append(triples, t)
		}
	}
	return triples
}

// listMark is what a model puts before the lines of a list. A name may begin
// with digits ("2010 FIFA World Cup"), so these alone are none.
var listMark = regexp.MustCompile(`^(?:[-*•]+|\d+[.)]) `)

// validity is "(since …)", "(until …)" and "(… to …)" with a year at the end of
// an object, as verbalise.Fact shows the time a triple holds.
var validity = regexp.MustCompile(` \((?:(?:since|until) -?\d[^()]*|-?\d[^()]* to -?\d[^()]*)\)$`)

// Diff finds the edits that lead from the drafts to what was written: what
// stands in both was kept; what is gone was replaced by a new triple of the
// same subject or relation, or deleted; the rest was added.
func Diff(drafts, written []*graphv1.Triple, pool []*graphv1.ScoredTriple) []*graphv1.Edit {
	taken := make([]bool, len(written))
	take := func(fits func(*graphv1.Triple) bool) *graphv1.Triple {
		for i, w := range written {
			if !taken[i] && fits(w) {
				taken[i] = true
				return w
			}
		}
		return nil
	}
	edits := make([]*graphv1.Edit, len(drafts))
	for i, d := range drafts {
		if w := take(func(w *graphv1.Triple) bool { return align.Same(d, w) }); w != nil {
			edits[i] = edit(graphv1.EditKind_EDIT_KIND_KEEP, d, w, pool)
		}
	}
	for i, d := range drafts {
		if edits[i] != nil {
			continue
		}
		w := take(func(w *graphv1.Triple) bool {
			return strings.EqualFold(w.GetSubject(), d.GetSubject()) || strings.EqualFold(w.GetRelation(), d.GetRelation())
		})
		if w == nil {
			edits[i] = &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_DELETE, Before: d}
			continue
		}
		edits[i] = edit(graphv1.EditKind_EDIT_KIND_REPLACE, d, w, pool)
	}
	for i, w := range written {
		if !taken[i] {
			edits = append(edits, edit(graphv1.EditKind_EDIT_KIND_ADD, nil, w, pool))
		}
	}
	return edits
}

// edit names the evidence that says what was written, where there is any: the
// triple then stands as the knowledge graph spells it.
func edit(kind graphv1.EditKind, before, after *graphv1.Triple, pool []*graphv1.ScoredTriple) *graphv1.Edit {
	e := &graphv1.Edit{Kind: kind, Before: before, After: after}
	for _, p := range pool {
		if align.Same(after, p.GetTriple()) {
			e.After = p.GetTriple()
			e.Evidence = append(e.Evidence, p)
		}
	}
	return e
}
