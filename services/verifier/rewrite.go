package verifier

import (
	"context"
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
)

// maxRewrittenTriples bounds the triples parsed from one rewriting.
const maxRewrittenTriples = 200

// Rewriter lets the model rewrite the graph freely, as published (PG&AKV §III-B, pseudo-graph
// verification), and derives the edits from the result.
type Rewriter struct {
	model     llm.Completer
	maxTokens int
	prompt    *prompt.Prompt
}

// NewRewriter returns a Rewriter whose model writes at most maxTokens tokens.
func NewRewriter(model llm.Completer, maxTokens int) *Rewriter {
	return &Rewriter{model: model, maxTokens: maxTokens, prompt: prompt.Must(Prompts(), "rewrite")}
}

// Rewrite returns the model's fixed graph and the edits that lead to it. The
// error is llm.ErrUnusable if it wrote no triple.
func (r *Rewriter) Rewrite(ctx context.Context, question string, drafts *graphv1.PseudoGraph,
	pool []*graphv1.ScoredTriple, ledger *llm.Ledger) (align.Alignment, []*llmv1.Warning, error) {
	lines := make([]string, len(drafts.GetTriples()))
	for i, d := range drafts.GetTriples() {
		lines[i] = kgtext.FormatFact(d)
	}
	messages, err := r.prompt.Messages(struct {
		Question        string
		Evidence, Draft []string
	}{question, align.EvidenceLines(pool), lines})
	if err != nil {
		return align.Alignment{}, nil, err
	}
	resp, err := r.model.Complete(ctx, llm.Request{Task: "verify", Messages: messages, MaxTokens: r.maxTokens,
		Ledger: ledger})
	if err != nil {
		return align.Alignment{}, nil, err
	}
	text := resp.Text
	if resp.Truncated() { // its last line is half a triple
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	written := ParseRewriting(text)
	if len(written) == 0 {
		return align.Alignment{}, nil, llm.ErrUnusable
	}
	return align.FromEdits(DiffTriples(drafts.GetTriples(), written, pool)), resp.Warnings(), nil
}

// ParseRewriting reads triples from lines "subject | relation | object". A validity in brackets at the
// end is dropped: the evidence has the exact one. Other lines are skipped.
func ParseRewriting(text string) []*graphv1.Triple {
	var triples []*graphv1.Triple
	seen := map[string]bool{}
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		parts := strings.Split(line, "|")
		if len(parts) != 3 || len(triples) == maxRewrittenTriples {
			continue
		}
		for i := range parts {
			parts[i] = strings.Join(strings.Fields(parts[i]), " ")
		}
		subject, object := listMark.ReplaceAllString(parts[0], ""), validityPattern.ReplaceAllString(parts[2], "")
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
// with digits ("2010 FIFA World Cup"), so digits alone are no mark.
var listMark = regexp.MustCompile(`^(?:[-*•]+|\d+[.)]) `)

// validityPattern is "(since …)", "(until …)" and "(… to …)" with a year at the end of
// an object, as kgtext.FormatFact shows the time a triple holds.
var validityPattern = regexp.MustCompile(` \((?:(?:since|until) -?\d[^()]*|-?\d[^()]* to -?\d[^()]*)\)$`)

// DiffTriples returns the edits that lead from the drafts to the written triples: a draft in both is kept; a
// missing draft was replaced by a new triple of the same subject or relation, or deleted; the
// remaining triples were added.
func DiffTriples(drafts, written []*graphv1.Triple, pool []*graphv1.ScoredTriple) []*graphv1.Edit {
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
	evidence := map[align.Wording][]*graphv1.ScoredTriple{}
	for _, p := range pool {
		k := align.FoldWording(p.GetTriple())
		evidence[k] = append(evidence[k], p)
	}
	wordings := map[*graphv1.Triple]align.Wording{}
	for _, w := range written {
		wordings[w] = align.FoldWording(w)
	}
	// edit names the evidence in the same words, if any: the triple then has the knowledge graph's
	// spelling.
	edit := func(kind graphv1.EditKind, before, after *graphv1.Triple) *graphv1.Edit {
		e := &graphv1.Edit{Kind: kind, Before: before, After: after, Evidence: evidence[wordings[after]]}
		if n := len(e.Evidence); n > 0 {
			e.After = e.Evidence[n-1].GetTriple()
		}
		return e
	}
	edits := make([]*graphv1.Edit, len(drafts))
	for i, d := range drafts {
		wording := align.FoldWording(d)
		if w := take(func(w *graphv1.Triple) bool { return wordings[w] == wording }); w != nil {
			edits[i] = edit(graphv1.EditKind_EDIT_KIND_KEEP, d, w)
		}
	}
	for i, d := range drafts {
		if edits[i] != nil {
			continue
		}
		w := take(func(w *graphv1.Triple) bool {
			return strings.EqualFold(w.GetSubject(), d.GetSubject()) || strings.EqualFold(w.GetRelation(),
				d.GetRelation())
		})
		if w == nil {
			edits[i] = &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_DELETE, Before: d}
			continue
		}
		edits[i] = edit(graphv1.EditKind_EDIT_KIND_REPLACE, d, w)
	}
	for i, w := range written {
		if !taken[i] {
			edits = append(edits, edit(graphv1.EditKind_EDIT_KIND_ADD, nil, w))
		}
	}
	return edits
}
