package check

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Correct puts what the knowledge graph has in the place of the objects that it
// contradicts. All else of the text stays as it is, byte for byte. Words that
// two claims are about are changed only where both would change them alike.
func Correct(text string, findings []*Finding) (string, []*orchestratorv1.Correction) {
	runes := []rune(text)
	var changes []*orchestratorv1.Correction
	for i, f := range findings {
		at := amiss(f)
		if !wrong(f) || at.GetEnd() > uint32(len(runes)) || at.GetStart() >= at.GetEnd() || disputed(findings, i) {
			continue
		}
		before := string(runes[at.GetStart():at.GetEnd()])
		if verbalise.Fold(before) == verbalise.Fold(f.Judgement.GetCorrection()) {
			continue
		}
		changes = append(changes, &orchestratorv1.Correction{
			Span: at, Before: before, After: f.Judgement.GetCorrection(), Claim: uint32(i),
		})
	}
	slices.SortStableFunc(changes, func(a, b *orchestratorv1.Correction) int {
		return cmp.Compare(a.GetSpan().GetStart(), b.GetSpan().GetStart())
	})
	changes = slices.CompactFunc(changes, func(a, b *orchestratorv1.Correction) bool { return overlap(a.GetSpan(), b.GetSpan()) })
	var corrected strings.Builder
	read, written := uint32(0), uint32(0)
	for _, c := range changes {
		kept := runes[read:c.GetSpan().GetStart()]
		corrected.WriteString(string(kept))
		corrected.WriteString(c.GetAfter())
		start := written + uint32(len(kept))
		written = start + uint32(utf8.RuneCountInString(c.GetAfter()))
		c.CorrectedSpan = &graphv1.TextSpan{Start: start, End: written}
		read = c.GetSpan().GetEnd()
	}
	corrected.WriteString(string(runes[read:]))
	return corrected.String(), changes
}

// wrong tells whether a finding's object is to be changed.
func wrong(f *Finding) bool {
	return f.Judgement.GetVerdict() == verifierv1.Verdict_VERDICT_CONTRADICTED && !f.Extracted.GetNegated() && f.Judgement.GetCorrection() != ""
}

// amiss is where the words stand that a finding would change: the object's, but
// where the claim was read the other way about.
func amiss(f *Finding) *graphv1.TextSpan {
	if f.Judgement.GetCorrectsSubject() {
		return f.Extracted.GetSubjectSpan()
	}
	return f.Extracted.GetObjectSpan()
}

// disputed tells whether another claim is about the same words and would not
// change them so.
func disputed(findings []*Finding, i int) bool {
	f := findings[i]
	for j, other := range findings {
		if j == i || !overlap(amiss(f), amiss(other)) {
			continue
		}
		if other.Judgement.GetVerdict() == verifierv1.Verdict_VERDICT_SUPPORTED || wrong(other) && other.Judgement.GetCorrection() != f.Judgement.GetCorrection() {
			return true
		}
	}
	return false
}

func overlap(a, b *graphv1.TextSpan) bool {
	return a != nil && b != nil && a.GetStart() < b.GetEnd() && b.GetStart() < a.GetEnd()
}
