package verifier_test

import (
	"context"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt/prompttest"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier"
	"github.com/triplemesh/triplemesh/services/verifier/align"
)

// graphs are drafts about a name and evidence for them, a change over time
// included.
func graphs(name string) (*graphv1.PseudoGraph, *graphv1.GroundGraph) {
	triple := func(r, o, start, end string, score float32) *graphv1.ScoredTriple {
		t := &graphv1.Triple{Subject: name, Relation: r, Object: o}
		if start != "" {
			t.Validity = &graphv1.ValidityInterval{Start: start, End: end}
		}
		return &graphv1.ScoredTriple{Triple: t, PseudoTripleScores: []float32{score, 0}}
	}
	return &graphv1.PseudoGraph{Triples: []*graphv1.Triple{
			{Subject: name, Relation: "HEAD_OF_GOVERNMENT", Object: name},
			{Subject: name, Relation: "twinned_with", Object: "Harn"},
		}}, &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{
			{Subject: name, Confidence: .9, Triples: []*graphv1.ScoredTriple{
				triple("head of government", "Tomas Reik", "2006", "", .8),
				triple("head of government", "Ilse Brandt", "1998", "2006", .7),
				triple("location.location.area", "48 km²", "", "", .1),
			}},
			{Subject: "Harn", Confidence: .5, Triples: []*graphv1.ScoredTriple{triple("country", name, "", "", .2)}},
		}}
}

func TestPrompts(t *testing.T) {
	both := func(name string, mode func(context.Context, llm.Completer, string, string)) prompttest.Case {
		ask := func(m llm.Completer, question, name string) { mode(t.Context(), m, question, name) }
		return prompttest.Case{
			Prompt:  name,
			Typical: func(m llm.Completer) { ask(m, "who runs velmora", "Velmora") },
			Hostile: func(m llm.Completer) { ask(m, prompttest.Hostile, prompttest.HostileName) },
			Any:     ask,
		}
	}
	edit := func(ctx context.Context, m llm.Completer, question, name string) {
		drafts, ground := graphs(name)
		aligned := align.Align("", drafts, ground, align.Config{MinSimilarity: .4, MaxTriples: 9})
		_, _, _ = verifier.NewEditor(m, 32).Edit(ctx, question, drafts, align.OrderEvidence(ground, 9), aligned,
			llm.NewLedger(nil))
	}
	write := func(ctx context.Context, m llm.Completer, question, name string) {
		drafts, ground := graphs(name)
		_, _, _ = verifier.NewRewriter(m, 384).Rewrite(ctx, question, drafts, align.OrderEvidence(ground, 9),
			llm.NewLedger(nil))
	}
	prompttest.Run(t, verifier.Prompts(), []prompttest.Case{both("edits", edit), both("rewrite", write)})
}
