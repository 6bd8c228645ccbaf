package sentence

import (
	"regexp"
	"unicode"
)

// pronoun is a word that stands for something named before.
var pronoun = regexp.MustCompile(`(?i)\b(?:he|she|it|they|his|her|hers|its|their|theirs|him|them|this|these|the (?:former|latter|film|book|novel|city|country|company|band|album|song|team|river|group|series|school|university))\b`)

// back is how far back what a pronoun means is looked for.
const back = 5

// Before is what the sentence at a place needs of those before it to be
// understood: the last that names what its pronouns mean. It is empty where the
// sentence needs none, or is the first.
func Before(all []Sentence, at int) string {
	if at == 0 || !Refers(all[at].Text) {
		return ""
	}
	i := at - 1
	for i > 0 && at-i < back && opens(all[i].Text) {
		i--
	}
	return all[i].Text
}

// Refers tells whether a sentence may speak of something named before it. Of
// scripts whose pronouns are not known, every one may.
func Refers(text string) bool { return !latin(text) || pronoun.MatchString(text) }

// opens tells whether a sentence opens with a pronoun.
func opens(text string) bool {
	at := pronoun.FindStringIndex(text)
	return at != nil && at[0] == 0
}

func latin(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			return false
		}
	}
	return true
}
