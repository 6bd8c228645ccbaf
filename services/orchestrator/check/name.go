package check

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
)

// pronouns are words that models leave in a subject's place.
var pronouns = []string{"he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "this", "who", "which"}

// name puts names in the place of pronouns and of parts of names that stand for
// something the text named before: the last subject, or the last whose name ends
// or begins so ("Stam" after "Robert Stam").
func name(before, found []*Finding) {
	var names []string
	for _, f := range before {
		names = append(names, f.Extracted.GetTriple().GetSubject())
	}
	for _, f := range found {
		t := f.Extracted.GetTriple()
		t.Subject = meant(t.GetSubject(), names)
		names = append(names, t.GetSubject())
	}
}

// meant is the name that a subject stands for.
func meant(subject string, names []string) string {
	words := strings.Fields(verbalise.Fold(subject))
	for _, n := range slices.Backward(names) {
		full := strings.Fields(verbalise.Fold(n))
		if len(words) == 1 && slices.Contains(pronouns, words[0]) {
			if len(full) != 1 || !slices.Contains(pronouns, full[0]) {
				return n
			}
			continue
		}
		if len(words) == 1 && len(full) > 1 && len(full) < 5 && full[len(full)-1] == words[0] {
			return n
		}
	}
	return subject
}
