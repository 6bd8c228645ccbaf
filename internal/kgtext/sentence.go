package kgtext

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Sentence is one sentence of a text.
type Sentence struct {
	// Text is the sentence without the space around it.
	Text string
	// Start and End are its position in characters of the text; End is exclusive.
	Start, End int
}

// SplitSentences returns the sentences of a text in order, in any script. They contain all of
// it except the space between them. Sentences end by Unicode's rules (UAX #29), at blank lines,
// at list items and at markup; not after abbreviations and initials, nor at a line break in mid-sentence.
func SplitSentences(text string) []Sentence {
	var all []Sentence
	prose := unwrapLines(text)
	start, end, state := 0, 0, -1 // of the open sentence, in bytes
	at := 0                       // start in characters
	for rest := prose; rest != ""; {
		var piece string
		piece, rest, state = uniseg.FirstSentenceInString(rest, state)
		for _, part := range splitMarkup(piece) {
			end += len(part)
			open := prose[start:end]
			if end < len(prose) && !endsSentence(open, prose[end:]) {
				continue
			}
			if trimmed := strings.TrimLeftFunc(open, unicode.IsSpace); trimmed != "" {
				from := at + utf8.RuneCountInString(open[:len(open)-len(trimmed)])
				trimmed = strings.TrimRightFunc(trimmed, unicode.IsSpace)
				all = append(all, Sentence{Start: from, End: from + utf8.RuneCountInString(trimmed)})
			}
			at += utf8.RuneCountInString(open)
			start = end
		}
	}
	return sliceSentences(all, text)
}

// sliceSentences sets the text of sentences whose positions are set.
func sliceSentences(all []Sentence, text string) []Sentence {
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

// endsSentence reports whether the sentence read so far, open, ends before rest.
func endsSentence(open, rest string) bool {
	if strings.ContainsAny(open[len(strings.TrimRightFunc(open, unicode.IsSpace)):], "\n\u2029") {
		return true
	}
	open = strings.TrimFunc(open, unicode.IsSpace)
	if open == "" {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	if unicode.IsLower(next) {
		return false // a title or a quotation that ends in a mark: "Mad Monster Party? was made"
	}
	if last, _ := utf8.DecodeLastRuneInString(open); last == '}' || unicode.IsControl(last) {
		return true
	}
	space := strings.LastIndexFunc(open, unicode.IsSpace)
	last, found := strings.CutSuffix(open[space+1:], ".")
	if !found {
		return true
	}
	last = strings.TrimLeftFunc(last, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch {
	case titleAbbreviations[strings.ToLower(last)]:
		return false
	case numberAbbreviations[strings.ToLower(last)] && !initials.MatchString(last):
		return !unicode.IsDigit(next)
	case space < 0 && strings.Trim(last, "0123456789") == "":
		return false // a list's "12."
	case initials.MatchString(last):
		// Of a name ("J. Smith", "A.C. Milan"), unless a new sentence opens: "vitamin C. It is".
		first, _, _ := strings.Cut(strings.TrimLeftFunc(rest, unicode.IsSpace), " ")
		return sentenceOpeners[first]
	}
	return true
}

// initials are all of a word but its last period.
var initials = regexp.MustCompile(`^(?:\p{Lu}\.)*\p{Lu}$`)

// sentenceOpeners are words in capitals that open sentences and no names.
var sentenceOpeners = wordSet("It", "He", "She", "They", "We", "You", "The", "This", "That", "These", "Those",
	"In", "On", "At", "But", "And", "There", "His", "Her", "Its", "Their", "After", "As", "By", "For", "From",
	"However", "Many", "Most", "Some", "When", "While", "With")

// titleAbbreviations are abbreviations that never end a sentence.
var titleAbbreviations = wordSet("mr", "mrs", "ms", "dr", "prof", "st", "ste", "mt", "rev", "gen", "col", "lt",
	"sgt", "capt", "hon",
	"gov", "sen", "rep", "pres", "fr", "sr", "jr", "messrs", "mme", "mlle", "vs", "cf", "e.g", "i.e", "viz", "approx",
	"ca", "bzw", "z.b", "d.h", "u.a", "hr", "dir", "sra", "ing")

// numberAbbreviations are abbreviations that do not end a sentence before a number.
var numberAbbreviations = wordSet("no", "nos", "nr", "vol", "p", "pp", "fig", "figs", "ch", "sec", "art", "op",
	"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "c", "b", "d")

func wordSet(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// markup matches to the first rune of what is no part of the sentence before it, where Unicode's
// rules end no sentence: markup and control characters are no prose.
var markup = regexp.MustCompile("[.!?…][\"'”’)]*\\s+[{<＜\\[!#|`\\\\]|" + // "Oslo. <b>"
	"[}\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]\\s+\\p{Lu}") // "{x} She"

// unspaced matches to the first rune of a sentence that follows another without a space: "in 1998.It was".
var unspaced = regexp.MustCompile(`[\p{Ll}\d)][.!?]((?:Its?|He|She|They|His|Her|Their|The|This) )`)

// splitMarkup splits a sentence by Unicode's rules at markup, and where a space is missing.
func splitMarkup(piece string) (parts []string) {
	var cuts []int
	for _, found := range markup.FindAllStringIndex(piece, -1) {
		_, size := utf8.DecodeLastRuneInString(piece[:found[1]])
		cuts = append(cuts, found[1]-size)
	}
	for _, found := range unspaced.FindAllStringSubmatchIndex(piece, -1) {
		cuts = append(cuts, found[2])
	}
	slices.Sort(cuts)
	from := 0
	for _, cut := range slices.Compact(cuts) {
		parts, from = append(parts, piece[from:cut]), cut
	}
	return append(parts, piece[from:])
}

// minWrappedLine is the minimum length in characters of a line broken for its length.
const minWrappedLine = 50

// unwrapLines replaces line breaks within a paragraph by spaces, character for character:
// Unicode's rules end a sentence at each line break.
func unwrapLines(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		if body, cut := strings.CutSuffix(line, "\n"); cut && continuesOnNextLine(body, next) {
			b.WriteString(strings.TrimSuffix(body, "\r"))
			if strings.HasSuffix(body, "\r") {
				b.WriteByte(' ')
			}
			b.WriteByte(' ')
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// continuesOnNextLine reports whether a line's sentence continues in the next line.
func continuesOnNextLine(line, next string) bool {
	line, next = strings.TrimSpace(line), strings.TrimSpace(next)
	if line == "" || next == "" || startsListItem(next) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(line)
	first, _ := utf8.DecodeRuneInString(next)
	return last == ',' || unicode.IsLower(first) || utf8.RuneCountInString(line) >= minWrappedLine && last != ':'
}

// startsListItem reports whether a line starts a list item or a heading.
func startsListItem(line string) bool {
	switch line[0] {
	case '-', '*', '+', '#', '>', '|':
		return true
	}
	if strings.HasPrefix(line, "•") {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return digits != line && len(line)-len(digits) < 4 && (strings.HasPrefix(digits, ". ") ||
		strings.HasPrefix(digits, ") "))
}

// RemoveBraces returns a text without the braces in which a model puts its answers.
func RemoveBraces(text string) string { return strings.NewReplacer("{", "", "}", "").Replace(text) }
