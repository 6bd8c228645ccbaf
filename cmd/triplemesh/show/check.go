package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/triplemesh/triplemesh/internal/config"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Check prints a checked text: the text with its claims marked by their verdicts,
// each claim with what it rests on, and what was put right, as a difference.
func Check(w io.Writer, c *orchestratorv1.Check, style Style) error {
	p := newPage(w, style)
	p.marked(c)
	p.heading("Claims", tally(c.GetClaims()))
	if len(c.GetClaims()) == 0 {
		p.item(2, "", "", "(the text states none)")
	}
	for i, claim := range c.GetClaims() {
		p.claim(i+1, claim)
	}
	p.corrected(c)
	if c.GetPartial() {
		p.print("\n")
		p.item(0, "ended early: ", yellow, "the rest of the text was not checked")
	}
	for _, s := range c.GetStages() {
		for _, warning := range s.GetWarnings() {
			p.item(0, stage(s.GetStage())+": ", yellow, warning.GetMessage())
		}
	}
	return p.err
}

// verdictMarks are how verdicts are drawn: contradicted ones are underlined too.
var verdictMarks = map[verifierv1.Verdict]string{
	verifierv1.Verdict_VERDICT_SUPPORTED:    green,
	verifierv1.Verdict_VERDICT_CONTRADICTED: "4;" + red,
	verifierv1.Verdict_VERDICT_NOT_IN_KG:    yellow,
}

func verdictName(v verifierv1.Verdict) string {
	switch v {
	case verifierv1.Verdict_VERDICT_UNSPECIFIED:
		return "not judged"
	case verifierv1.Verdict_VERDICT_NOT_IN_KG:
		return "not in the graph"
	}
	return config.EnumName(v)
}

// tally counts the verdicts.
func tally(claims []*orchestratorv1.Claim) string {
	var parts []string
	for _, v := range []verifierv1.Verdict{
		verifierv1.Verdict_VERDICT_SUPPORTED, verifierv1.Verdict_VERDICT_CONTRADICTED,
		verifierv1.Verdict_VERDICT_NOT_IN_KG, verifierv1.Verdict_VERDICT_UNSPECIFIED,
	} {
		n := 0
		for _, c := range claims {
			if c.GetVerdict() == v {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verdictName(v)))
		}
	}
	return strings.Join(parts, ", ")
}

// marked prints the text, each claim in the colour of its verdict and with its number behind it.
func (p *page) marked(c *orchestratorv1.Check) {
	runes := []rune(c.GetText())
	colours := make([]string, len(runes))
	behind := make([]string, len(runes))
	for i, claim := range c.GetClaims() {
		start, end := int(claim.GetSpan().GetStart()), min(int(claim.GetSpan().GetEnd()), len(runes))
		for j := start; j < end; j++ {
			if colours[j] == "" || claim.GetVerdict() == verifierv1.Verdict_VERDICT_CONTRADICTED {
				colours[j] = verdictMarks[claim.GetVerdict()]
			}
		}
		if start < end {
			behind[end-1] += fmt.Sprintf("[%d]", i+1)
		}
	}
	line, width := "", 0 // what is written of the line under way
	word, columns := "", 0
	flush := func() {
		if width > 0 && width+columns > p.style.Width {
			p.print(strings.TrimRight(line, " ") + "\n")
			line, width = "", 0
		}
		line, width = line+word, width+columns
		word, columns = "", 0
	}
	for i, r := range runes {
		switch {
		case r == '\n':
			flush()
			p.print(strings.TrimRight(line, " ") + "\n")
			line, width = "", 0
			continue
		case r == ' ':
			flush()
			line, width = line+p.paint(colours[i], " "), width+1
			continue
		}
		shown := p.clean(string(r))
		word += p.paint(colours[i], shown) + p.paint(dim, behind[i])
		columns += runewidth.StringWidth(shown) + len(behind[i])
	}
	flush()
	if line != "" {
		p.print(line + "\n")
	}
}

// claim prints one claim and what its verdict rests on.
func (p *page) claim(number int, c *orchestratorv1.Claim) {
	p.item(2, fmt.Sprintf("%d. %s: ", number, verdictName(c.GetVerdict())), verdictMarks[c.GetVerdict()],
		denied(c)+triple(c.GetTriple()))
	if c.GetReason() != "" {
		p.itemf(5, "", "%s (%.2f)", c.GetReason(), c.GetConfidence())
	}
	for _, e := range c.GetEvidence() {
		p.item(5, "by ", dim, evidenceTriple(e.GetTriple()))
	}
}

func denied(c *orchestratorv1.Claim) string {
	if c.GetNegated() {
		return "not: "
	}
	return ""
}

// corrected prints the lines of the text that were changed, before and after.
func (p *page) corrected(c *orchestratorv1.Check) {
	if len(c.GetCorrections()) == 0 {
		return
	}
	p.heading("Corrected", "")
	before, after := strings.Split(c.GetText(), "\n"), strings.Split(c.GetCorrectedText(), "\n")
	for i := range before {
		if i < len(after) && before[i] != after[i] {
			p.item(2, "- ", red, before[i])
			p.item(2, "+ ", green, after[i])
		}
	}
	for _, change := range c.GetCorrections() {
		p.itemf(2, "", "%s → %s: claim %d", change.GetBefore(), change.GetAfter(), change.GetClaim()+1)
	}
}
