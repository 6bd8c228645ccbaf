// Package sentence splits texts into sentences, in any script.
package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Sentence is one sentence of a text.
type Sentence struct {
	// Text is the sentence as the text has it, without the space around it.
	Text string
	// Start and End are where it stands, in characters of the text: the first,
	// and the one after the last.
	Start, End int
}

// Split returns the sentences of a text in order. They hold all of it but the
// space between them. Sentences end where Unicode's rules have them end (UAX
// #29), at blank lines and at list items; not after abbreviations and initials,
// nor at the end of a line in the middle of a sentence.
func Split(text string) []Sentence {
	var all []Sentence
	at := 0 // characters before rest
	open := ""
	state := -1
	for rest := unwrap(text); rest != ""; {
		var piece string
		piece, rest, state = uniseg.FirstSentenceInString(rest, state)
		open += piece
		if rest != "" && !ends(open, rest) {
			continue
		}
		n := utf8.RuneCountInString(open)
		if trimmed := strings.TrimLeftFunc(open, unicode.IsSpace); trimmed != "" {
			start := at + n - utf8.RuneCountInString(trimmed)
			trimmed = strings.TrimRightFunc(trimmed, unicode.IsSpace)
			all = append(all, Sentence{Start: start, End: start + utf8.RuneCountInString(trimmed)})
		}
		at += n
		open = ""
	}
	return filled(all, text)
}

// filled puts the words of the text into sentences that know where they stand.
func filled(all []Sentence, text string) []Sentence {
	offset, at := 0, 0 // the same place in bytes and characters
	advance := func(to int) int {
		for ; at < to; at++ {
			_, size := utf8.DecodeRuneInString(text[offset:])
			offset += size
		}
		return offset
	}
	for i := range all {
		start := advance(all[i].Start)
		all[i].Text = text[start:advance(all[i].End)]
	}
	return all
}

// ends tells whether a sentence is over after the words of open.
func ends(open, rest string) bool {
	if strings.ContainsAny(open[len(strings.TrimRightFunc(open, unicode.IsSpace)):], "\n\u2029") {
		return true
	}
	words := strings.Fields(open)
	if len(words) == 0 {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	if unicode.IsLower(next) {
		return false // a title or a quotation that ends in a mark: "Mad Monster Party? was made"
	}
	last, found := strings.CutSuffix(words[len(words)-1], ".")
	if !found {
		return true
	}
	last = strings.TrimLeftFunc(last, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch {
	case titles[strings.ToLower(last)]:
		return false
	case numbered[strings.ToLower(last)]:
		return !unicode.IsDigit(next)
	case len(words) == 1 && strings.Trim(last, "0123456789") == "":
		return false // a list's "12."
	case utf8.RuneCountInString(last) == 1 && strings.ToUpper(last) == last:
		// An initial ("J. Smith"), where no new sentence opens: "vitamin C. It is".
		first, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		return openers[first]
	}
	return true
}

// openers are words in capitals that open sentences and no names.
var openers = set("It", "He", "She", "They", "We", "You", "The", "This", "That", "These", "Those", "In", "On", "At", "But", "And", "There", "His", "Her", "Its", "Their")

// titles are abbreviations after which a sentence goes on, whatever follows.
var titles = set("mr", "mrs", "ms", "dr", "prof", "st", "ste", "mt", "rev", "gen", "col", "lt", "sgt", "capt", "hon", "gov", "sen", "rep", "pres", "fr", "sr", "jr", "messrs", "mme", "mlle", "vs", "cf", "e.g", "i.e", "viz", "approx", "ca", "bzw", "z.b", "d.h", "u.a", "hr", "dir", "sra", "ing")

// numbered are abbreviations after which a number goes on with the sentence.
var numbered = set("no", "nos", "nr", "vol", "p", "pp", "fig", "figs", "ch", "sec", "art", "op", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "c", "b", "d")

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}
