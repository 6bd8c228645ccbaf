package followup

import (
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
)

// swapped is the question before with another name in it, where that is all
// that a question says: "And of Norland?". Small models repeat such a question
// as it is, and what is meant is plain. false where it says more, or where more
// than one name could be meant.
func swapped(question string, turns []turn) (string, bool) {
	before := ""
	for _, t := range turns {
		if !t.asked() {
			continue
		}
		if again, ok := swap(t.Text, before); ok {
			before = again // a chain of them
		} else {
			before = strings.TrimSpace(t.Text)
		}
	}
	return swap(question, before)
}

// elliptic matches a question that is a name, and how it is joined to the one
// before: by a word, by a preposition, or by both.
var elliptic = regexp.MustCompile(`^(?i:(and|or|but|what about|how about|and what about|and how about),? )?(?i:(of|in|for|from|by|at|on) )?` + name + `[ ?.!]*$`)

// named matches a name, and the word before it.
var named = regexp.MustCompile(`(?:(\p{Ll}+) )?\b` + name)

// openers begin questions, with a capital that makes no name of them.
var openers = map[string]bool{
	"who": true, "whom": true, "whose": true, "what": true, "which": true, "where": true, "when": true, "why": true, "how": true,
	"is": true, "are": true, "was": true, "were": true, "do": true, "does": true, "did": true, "has": true, "have": true, "had": true,
	"can": true, "could": true, "will": true, "would": true, "in": true, "of": true, "at": true, "on": true, "by": true, "from": true, "for": true,
	"the": true, "name": true, "list": true, "give": true, "tell": true, "and": true,
}

func swap(question, before string) (string, bool) {
	said := elliptic.FindStringSubmatch(strings.TrimSpace(question))
	if said == nil || said[1] == "" && said[2] == "" {
		return "", false
	}
	preposition, other := strings.ToLower(said[2]), strings.TrimRight(said[3], ".")
	for word := range strings.FieldsSeq(verbalise.Fold(other)) {
		if pointing[word] || openers[word] && len(strings.Fields(other)) == 1 {
			return "", false
		}
	}
	var found [][2]int
	for _, at := range named.FindAllStringSubmatchIndex(before, -1) {
		start, end := at[4], at[5]
		if start == 0 { // the first word of a question has a capital whatever it is
			first, _, more := strings.Cut(before[:end], " ")
			if openers[strings.ToLower(first)] {
				if !more {
					continue
				}
				start = len(first) + 1
			}
		}
		if preposition != "" && (at[2] < 0 || before[at[2]:at[3]] != preposition) {
			continue
		}
		for _, possessive := range []string{"'s", "’s"} {
			if trimmed, ok := strings.CutSuffix(before[start:end], possessive); ok {
				end = start + len(trimmed)
			}
		}
		found = append(found, [2]int{start, end})
	}
	if len(found) != 1 {
		return "", false
	}
	return before[:found[0][0]] + other + before[found[0][1]:], true
}
