package link

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// word is a word of a text and where it stands.
type word struct {
	start, end int
	// capital: it begins with a capital or a digit, and is not the first word.
	capital bool
	// stop: it only holds a sentence together; number: it is all digits.
	stop, number bool
	folded       string
	// letters counts its characters.
	letters int
}

// split finds the words of a text. A possessive "'s" is not part of a word.
func split(text string) []word {
	var words []word
	start := -1
	flush := func(end int) {
		if start < 0 {
			return
		}
		for _, tail := range []string{"'s", "’s", "'", "’", "."} {
			if cut, ok := strings.CutSuffix(text[start:end], tail); ok && cut != "" && !strings.Contains(cut, ".") {
				end = start + len(cut)
				break
			}
		}
		first, _ := utf8.DecodeRuneInString(text[start:end])
		words = append(words, word{
			start: start, end: end,
			capital: unicode.IsUpper(first) && len(words) > 0 || unicode.IsDigit(first),
			stop:    stopword(words, strings.ToLower(text[start:end])),
			number:  strings.Trim(text[start:end], "0123456789") == "",
			folded:  store.Fold(text[start:end]),
			letters: utf8.RuneCountInString(text[start:end]),
		})
		start = -1
	}
	for i, r := range text {
		inside := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) ||
			(start >= 0 && (r == '\'' || r == '’' || r == '.'))
		switch {
		case inside && start < 0:
			start = i
		case !inside:
			flush(i)
		}
		if len(words) == mostWords {
			return words
		}
	}
	flush(len(text))
	return words
}

// span is the text from a word to before another.
func span(text string, words []word, first, last int) string {
	return text[words[first].start:words[last-1].end]
}

// fold folds a mention; "child 's play" is "childs play", as its name is.
func fold(mention string) string {
	return store.Fold(strings.ReplaceAll(mention, " '", "'"))
}

// idle tells runs that name nothing: only words that hold a sentence together.
func idle(words []word) bool {
	for _, w := range words {
		if !w.stop {
			return false
		}
	}
	return true
}

// stopword tells whether a word after others only holds a sentence together. A
// pronoun does, but not with an article: "the us" is a country.
func stopword(before []word, text string) bool {
	if len(before) > 0 && before[len(before)-1].folded == "the" && pronouns[text] {
		return false
	}
	return stopwords[text]
}

var pronouns = set("it us who")

var stopwords = set(`a about above after again against all also am an and any are as at be because been
before being below between both but by can could did do does doing down during each few first for from
further had has have having he her here hers him his how i if in into is it its itself just me more most
my name named names new no nor not now of off on once one only or other our out over own part place play
played plays s same she should so some such than that the their them then there these they thing this
those speak speaks spoken start started begin began come comes came go goes going gone went live lives
lived located famous popular used someone example kind kinds see say said through to too type types under until up us use used very was we were what whats when where which
while who whom whos whose why will with would year years you your`)

func set(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		words[w] = true
	}
	return words
}
