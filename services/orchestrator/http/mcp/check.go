package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

const checkDescription = `Check the facts of a text (an answer, a paragraph, a claim) against a knowledge graph.

Use it on your own draft before you give it, or when asked whether something is true. The text is split into claims; for
each you learn whether the knowledge graph supports it, contradicts it (by which triple) or does not say ("not-in-kg",
which is no sign that it is wrong). You also get the text with the contradicted claims corrected. It spends model calls,
more for longer texts.`

type checkInput struct {
	Text     string   `json:"text" jsonschema:"the text to check, unchanged"`
	OtherKGs []string `json:"other_kgs,omitempty" jsonschema:"more knowledge graphs to read, written like kg"`
	KG       string   `json:"kg,omitempty"`
}

type claim struct {
	Claim      triple   `json:"claim" jsonschema:"the fact that the text states"`
	Quote      string   `json:"quote" jsonschema:"where the text says so"`
	Start      uint32   `json:"start" jsonschema:"first character of the quote, in Unicode code points"`
	End        uint32   `json:"end" jsonschema:"the character after its last"`
	Verdict    string   `json:"verdict" jsonschema:"supported, contradicted or not-in-kg"`
	Confidence float64  `json:"confidence" jsonschema:"confidence in the verdict, 0 to 1"`
	Evidence   []triple `json:"evidence" jsonschema:"the triples that the verdict rests on, best first"`
	Reason     string   `json:"reason,omitempty"`
}

type correction struct {
	Before string `json:"before"`
	After  string `json:"after"`
	Claim  uint32 `json:"claim" jsonschema:"index of the claim that it corrects, from 0"`
}

type checkOutput struct {
	Claims        []claim      `json:"claims" jsonschema:"in the order of the text"`
	CorrectedText string       `json:"corrected_text" jsonschema:"the text with contradicted claims corrected"`
	Corrections   []correction `json:"corrections" jsonschema:"what was changed"`
	Warnings      []string     `json:"warnings,omitempty" jsonschema:"what failed and was skipped"`
	Partial       bool         `json:"partial,omitempty" jsonschema:"true if the check ended early"`
	KG            string       `json:"kg" jsonschema:"the snapshot that was read"`
	Usage         usage        `json:"usage"`
	Seconds       float64      `json:"seconds"`
}

func (d *handler) addCheck(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "check", Title: "Check a text", Description: checkDescription}, d.check)
}

func (d *handler) check(ctx context.Context, req *sdk.CallToolRequest, in checkInput) (checkOutput, error) {
	kg, others, err := d.kgs(ctx, in.KG, in.OtherKGs)
	if err != nil {
		return checkOutput{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := d.orchestrator.CheckStream(ctx,
		&orchestratorv1.CheckStreamRequest{Request: &orchestratorv1.CheckRequest{
			Text: in.Text, Kg: kg, OtherKgs: others,
		}})
	if err != nil {
		return checkOutput{}, err
	}
	var check *orchestratorv1.Check
	err = follow(newReporter(ctx, req), stream.Recv, func(e *orchestratorv1.CheckStreamResponse) moment {
		switch e := e.GetEvent().(type) {
		case *orchestratorv1.CheckStreamResponse_Progress:
			p := e.Progress
			judged := 0
			for _, c := range p.GetClaims() {
				if c.GetVerdict() != verifierv1.Verdict_VERDICT_UNSPECIFIED {
					judged++
				}
			}
			return moment{
				message: fmt.Sprintf("read %d of %d characters, judged %d of %s", p.GetRead(), p.GetTotal(), judged,
					kgtext.FormatCount(len(p.GetClaims()), "claim")),
				done: float64(p.GetRead()), total: float64(p.GetTotal()),
			}
		case *orchestratorv1.CheckStreamResponse_Check:
			check = e.Check
		}
		return moment{}
	})
	if err == nil && check == nil {
		err = advice("the mesh ended the check before its end: try again")
	}
	if err != nil {
		return checkOutput{}, err
	}
	return newCheckOutput(check), nil
}

func newCheckOutput(c *orchestratorv1.Check) checkOutput {
	out := checkOutput{
		Claims: []claim{}, CorrectedText: c.GetCorrectedText(), Corrections: []correction{},
		Warnings: warningsOf(c.GetStages()),
		Partial:  c.GetPartial(), KG: kgtext.FormatKG(c.GetKg()), Usage: usageOf(c.GetUsage()),
		Seconds: round(c.GetDuration().AsDuration().Seconds()),
	}
	text := []rune(c.GetText())
	for _, one := range c.GetClaims() {
		start, end := one.GetSpan().GetStart(), min(one.GetSpan().GetEnd(), uint32(len(text)))
		out.Claims = append(out.Claims, claim{
			Claim: tripleOf(one.GetTriple()), Quote: string(text[min(start, end):end]), Start: start, End: end,
			Verdict: config.EnumName(one.GetVerdict()), Confidence: round(one.GetConfidence()),
			Evidence: scoredOf(one.GetEvidence()), Reason: one.GetReason(),
		})
	}
	for _, one := range c.GetCorrections() {
		out.Corrections = append(out.Corrections, correction{one.GetBefore(), one.GetAfter(), one.GetClaim()})
	}
	return out
}

func (o checkOutput) text() string {
	var p page
	p.line("%s, read against %s.", kgtext.FormatCount(len(o.Claims), "claim"), name(o.KG))
	for i, c := range o.Claims {
		p.line("%d. %s (%v): %s", i, c.Verdict, c.Confidence, c.Claim)
		p.line("   says the text: %q", clean(c.Quote))
		for _, t := range c.Evidence {
			p.line("   evidence: %s", t)
		}
		if c.Reason != "" {
			p.line("   because: %s", clean(c.Reason))
		}
	}
	for _, c := range o.Corrections {
		p.line("Corrected, by claim %d: %q to %q", c.Claim, clean(c.Before), clean(c.After))
	}
	if len(o.Corrections) > 0 {
		p.line("The corrected text:")
		p.WriteString(quote(o.CorrectedText))
	}
	for _, w := range o.Warnings {
		p.line("Warning: %s", clean(w))
	}
	if o.Partial {
		p.line("The check ended before the end of the text: check the rest on its own.")
	}
	return p.String()
}
