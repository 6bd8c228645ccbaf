package show

import (
	"fmt"
	"io"
	"strings"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Answer prints the answers, what they rest on, and what went wrong.
func Answer(w io.Writer, run *orchestratorv1.Run, style Style) error {
	p := newPage(w, style)
	if run.GetStandaloneQuestion() != "" {
		p.item(0, "taken as: ", "", run.GetStandaloneQuestion())
		p.print("\n")
	}
	if len(run.GetAnswers()) == 0 && len(run.GetWithheld()) == 0 {
		p.item(0, "", "", noAnswer(run))
	}
	for _, a := range run.GetAnswers() {
		p.answer(0, a)
	}
	if text := run.GetText(); text != "" && !saysTheSame(run) {
		if len(run.GetWithheld()) == 0 {
			p.print("\n")
		}
		for line := range strings.Lines(text) {
			p.item(0, "", "", strings.TrimRight(line, "\r\n"))
		}
	}
	p.print("\n")
	word, colour := grounding(run.GetGrounding())
	if run.GetGroundingReason() != "" {
		word += ": "
	}
	p.item(0, word, colour, run.GetGroundingReason())
	if run.Confidence != nil {
		p.itemf(0, "confidence: ", "%.2f", run.GetConfidence())
	}
	for _, c := range run.GetConflicts() {
		p.item(0, "conflict: ", yellow, c.GetSubject()+" | "+c.GetRelation())
		for _, t := range c.GetTriples() {
			p.item(2, "", "", triple(t))
		}
	}
	if run.GetPartial() {
		p.item(0, "ended early: ", yellow, "what is shown is what there was by then")
	}
	for _, s := range run.GetStages() {
		for _, warning := range s.GetWarnings() {
			p.item(0, stage(s.GetStage())+": ", yellow, warning.GetMessage())
		}
	}
	return p.err
}

// answer is an answer with the triples it rests on.
func (p *page) answer(indent int, a *orchestratorv1.Answer) {
	p.item(indent, "", "", a.GetAnswer())
	for _, t := range a.GetEvidence() {
		p.item(indent+2, "", "", triple(t))
	}
}

func noAnswer(run *orchestratorv1.Run) string {
	if run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNSPECIFIED {
		return "(stopped before the answer, as asked)"
	}
	return "(no answer)"
}

// saysTheSame tells whether the text is the answers and nothing more.
func saysTheSame(run *orchestratorv1.Run) bool {
	var names []string
	for _, a := range run.GetAnswers() {
		names = append(names, a.GetAnswer())
	}
	bare := strings.NewReplacer("{", "", "}", "").Replace(strings.TrimSpace(run.GetText()))
	return strings.EqualFold(strings.TrimRight(bare, "."), strings.TrimRight(strings.Join(names, ", "), "."))
}

func grounding(g orchestratorv1.Grounding) (word, colour string) {
	switch g {
	case orchestratorv1.Grounding_GROUNDING_GROUNDED:
		return "grounded", green
	case orchestratorv1.Grounding_GROUNDING_PARTIAL:
		return "partly grounded", yellow
	case orchestratorv1.Grounding_GROUNDING_UNGROUNDED:
		return "not grounded", yellow
	case orchestratorv1.Grounding_GROUNDING_ABSTAINED:
		return "abstained", red
	}
	return "no answer asked for", dim
}

// stage is a stage's name as people type it: "evaluate-question".
func stage(s orchestratorv1.Stage) string {
	return name(s.String(), "STAGE_")
}

// name turns the name of an enum value into words.
func name(value, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(value, prefix)), "_", "-")
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
