package show_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func claim(start, end uint32, verdict verifierv1.Verdict, subject, object string) *orchestratorv1.Claim {
	return &orchestratorv1.Claim{
		Triple: &graphv1.Triple{Subject: subject, Relation: "employer", Object: object}, Verdict: verdict,
		Span: &graphv1.TextSpan{Start: start, End: end}, Confidence: .9, Reason: "so it is",
		Evidence: []*graphv1.ScoredTriple{{Triple: &graphv1.Triple{Subject: subject, Relation: "employer",
			Object: "NYU"}}},
	}
}

func checked() *orchestratorv1.Check {
	return &orchestratorv1.Check{
		Text:          "Zoë works at Google.\nReik \x1b[31mworks at NYU.",
		CorrectedText: "Zoë works at NYU.\nReik \x1b[31mworks at NYU.",
		Claims: []*orchestratorv1.Claim{
			claim(0, 19, verifierv1.Verdict_VERDICT_CONTRADICTED, "Zoë", "Google"),
			claim(21, 43, verifierv1.Verdict_VERDICT_SUPPORTED, "Reik", "NYU"),
		},
		Corrections: []*orchestratorv1.Correction{{
			Span: &graphv1.TextSpan{Start: 13, End: 19}, Before: "Google", After: "NYU",
			CorrectedSpan: &graphv1.TextSpan{Start: 13, End: 16},
		}},
		Stages: []*orchestratorv1.StageReport{{Stage: orchestratorv1.Stage_STAGE_CLAIMS,
			Warnings: []*llmv1.Warning{{Message: "one was left out"}}}},
		Partial: true,
	}
}

func TestCheckShowsTheTextItsClaimsAndWhatChanged(t *testing.T) {
	var b strings.Builder
	if err := show.Check(&b, checked(), show.Style{}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"Zoë works at Google[1].\n", "Claims  1 supported, 1 contradicted\n",
		"1. contradicted: Zoë | employer | Google",
		"so it is (0.90)", "by Zoë | employer | NYU", "- Zoë works at Google.\n", "+ Zoë works at NYU.\n",
		"Google → NYU: claim 1", "ended early", "claims: one was left out",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("a page without colours has escape codes:\n%q", got)
	}
}

func TestCheckMarksTheTextInColour(t *testing.T) {
	var b strings.Builder
	if err := show.Check(&b, checked(), show.Style{Colour: true, Width: 40}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "\x1b[4;31mZ\x1b[0m") || !strings.Contains(got, "\x1b[32mN\x1b[0m") ||
		strings.Contains(got, "\x1b[31mworks") {
		t.Errorf("got:\n%q", got)
	}
}

func TestCheckOfATextThatStatesNothing(t *testing.T) {
	var b strings.Builder
	if err := show.Check(&b, &orchestratorv1.Check{Text: "Ah!", CorrectedText: "Ah!"}, show.Style{}); err != nil ||
		!strings.Contains(b.String(), "states none") || strings.Contains(b.String(), "Corrected") {
		t.Errorf("got %q, %v", b.String(), err)
	}
}
