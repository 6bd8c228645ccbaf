package check

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Correct replaces the objects that the knowledge graph contradicts by its own. The rest of the
// text is byte-identical. Words of two claims are changed only if both corrections agree.
func Correct(text string, findings []*Finding) (string, []*orchestratorv1.Correction) {
	runes := []rune(text)
	var changes []*orchestratorv1.Correction
	for i, f := range findings {
		at := amiss(f)
		if !wrong(f) || at.GetEnd() > uint32(len(runes)) || at.GetStart() >= at.GetEnd() || disputed(findings, i) {
			continue
		}
		before := string(runes[at.GetStart():at.GetEnd()])
		if kgtext.Fold(before) == kgtext.Fold(f.Judgement.GetCorrection()) {
			continue
		}
		changes = append(changes, &orchestratorv1.Correction{
			Span: at, Before: before, After: f.Judgement.GetCorrection(), Claim: uint32(i),
		})
	}
	slices.SortStableFunc(changes, func(a, b *orchestratorv1.Correction) int {
		return cmp.Compare(a.GetSpan().GetStart(), b.GetSpan().GetStart())
	})
	changes = slices.CompactFunc(changes, func(a, b *orchestratorv1.Correction) bool {
		return overlap(a.GetSpan(), b.GetSpan())
	})
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

// wrong reports whether a finding's object must be corrected.
func wrong(f *Finding) bool {
	return f.Judgement.GetVerdict() == verifierv1.Verdict_VERDICT_CONTRADICTED && !f.Extracted.GetNegated() &&
		f.Judgement.GetCorrection() != ""
}

// amiss returns the span that a correction replaces: the object's, or the subject's if the claim
// was read inversely.
func amiss(f *Finding) *graphv1.TextSpan {
	if f.Judgement.GetCorrectsSubject() {
		return f.Extracted.GetSubjectSpan()
	}
	return f.Extracted.GetObjectSpan()
}

// disputed reports whether another claim covers the same words without the same correction.
func disputed(findings []*Finding, i int) bool {
	f := findings[i]
	for j, other := range findings {
		if j == i || !overlap(amiss(f), amiss(other)) {
			continue
		}
		if other.Judgement.GetVerdict() == verifierv1.Verdict_VERDICT_SUPPORTED || wrong(other) &&
			other.Judgement.GetCorrection() != f.Judgement.GetCorrection() {
			return true
		}
	}
	return false
}

func overlap(a, b *graphv1.TextSpan) bool {
	return a != nil && b != nil && a.GetStart() < b.GetEnd() && b.GetStart() < a.GetEnd()
}

// phrases returns the text's words for the relation of each claim: of a sentence with one claim all
// words but its names, otherwise those between its names, if there are any between its object and the
// nearest name of another claim only these. Extracted relations add to these words or omit some.
func phrases(sentences []kgtext.Sentence, found []*Finding) []string {
	within := func(f *Finding) int {
		return slices.IndexFunc(sentences, func(s kgtext.Sentence) bool { return beginsClaim(s, f) })
	}
	claims := map[int]int{}
	for _, f := range found {
		claims[within(f)]++
	}
	all := make([]string, len(found))
	for i, f := range found {
		at := within(f)
		if at < 0 || f.Extracted.GetSubjectSpan() == nil || f.Extracted.GetObjectSpan() == nil {
			continue
		}
		s := sentences[at]
		start, end := s.Start, s.End
		if claims[at] > 1 {
			start, end = int(f.Extracted.GetSpan().GetStart()), int(f.Extracted.GetSpan().GetEnd())
		}
		from, to := besideObject(f, found, start, end)
		names := []*graphv1.TextSpan{f.Extracted.GetSubjectSpan(), f.Extracted.GetObjectSpan()}
		all[i] = cmp.Or(cutSpans(s, from, to, names...), cutSpans(s, start, end, names...))
	}
	return all
}

// beginsClaim reports whether a claim begins in a sentence.
func beginsClaim(s kgtext.Sentence, f *Finding) bool {
	at := int(f.Extracted.GetSpan().GetStart())
	return at >= s.Start && at < s.End
}

// besideObject narrows a part of a text to what stands between a claim's object and the nearest name of
// another claim on the side of its subject.
func besideObject(f *Finding, found []*Finding, start, end int) (int, int) {
	subject, object := f.Extracted.GetSubjectSpan(), f.Extracted.GetObjectSpan()
	for _, other := range found {
		for _, name := range []*graphv1.TextSpan{other.Extracted.GetSubjectSpan(), other.Extracted.GetObjectSpan()} {
			switch {
			case name == nil || overlap(name, subject) || overlap(name, object):
			case subject.GetEnd() <= name.GetStart() && name.GetEnd() <= object.GetStart():
				start = max(start, int(name.GetEnd()))
			case object.GetEnd() <= name.GetStart() && name.GetEnd() <= subject.GetStart():
				end = min(end, int(name.GetStart()))
			}
		}
	}
	return start, end
}

// fillers are words around a phrase for a relation that say nothing of it.
var fillers = map[string]bool{"the": true, "a": true, "an": true, "is": true, "are": true, "was": true, "were": true,
	"be": true, "been": true, "and": true, "or": true, "which": true, "who": true, "that": true, "also": true}

// cutSpans returns a part of a sentence without names and their punctuation; empty if no content
// word remains.
func cutSpans(s kgtext.Sentence, start, end int, names ...*graphv1.TextSpan) string {
	runes := []rune(s.Text)
	var b strings.Builder
	for i := max(start, s.Start); i < min(end, s.End); i++ {
		r := runes[i-s.Start]
		for _, n := range names {
			if uint32(i) >= n.GetStart() && uint32(i) < n.GetEnd() {
				r = ' '
			}
		}
		b.WriteRune(r)
	}
	words := strings.FieldsFunc(b.String(), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '-' && r != '\''
	})
	for len(words) > 1 && fillers[strings.ToLower(words[0])] {
		words = words[1:]
	}
	for len(words) > 1 && fillers[strings.ToLower(words[len(words)-1])] {
		words = words[:len(words)-1]
	}
	phrase := strings.Join(words, " ")
	if len(phrase) < 4 || len(phrase) > longestName {
		return ""
	}
	return phrase
}
