package check

import (
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/sentence"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// phrases are the words that a text has for the relation of each claim: of a
// sentence with one claim all but the claim's names, of one with several those
// between its names. Models make much of these words, or little.
func phrases(sentences []sentence.Sentence, found []*Finding) []string {
	within := func(f *Finding) int {
		for i, s := range sentences {
			if at := int(f.Extracted.GetSpan().GetStart()); at >= s.Start && at < s.End {
				return i
			}
		}
		return -1
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
		all[i] = without(s, start, end, f.Extracted.GetSubjectSpan(), f.Extracted.GetObjectSpan())
	}
	return all
}

// without is a part of a sentence without names and the marks around them; empty
// where no word is left that says something.
func without(s sentence.Sentence, start, end int, names ...*graphv1.TextSpan) string {
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
	words := strings.FieldsFunc(b.String(), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '-' && r != '\'' })
	phrase := strings.Join(words, " ")
	if len(phrase) < 4 || len(phrase) > longestName {
		return ""
	}
	return phrase
}
