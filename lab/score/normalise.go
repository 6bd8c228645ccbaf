package score

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// punctuation is what Normalise drops: ASCII's, and no other. A dash or a
// quotation mark outside ASCII stays, as it does in RoG's evaluation.
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// Normalise brings a name or a text into the form in which RoG's evaluation
// compares them: lower case, without ASCII punctuation, without the words
// "a", "an" and "the", and with one space wherever there was white space.
// Normalise(Normalise(s)) is Normalise(s). The result may be empty.
//
// RoG's evaluation also means to drop the token <pad>, but looks for it after
// its angle brackets are gone, so that the word "pad" stays. It stays here.
func Normalise(s string) string {
	return squeeze(dropArticles(dropPunctuation(lower(s))))
}

// lower uses the full case mappings of Unicode, which strings.ToLower does
// not: "İ" is two characters in lower case, and a sigma that ends a word has a
// form of its own.
func lower(s string) string {
	return cases.Lower(language.Und).String(s)
}

func dropPunctuation(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(punctuation, r) {
			return -1
		}
		return r
	}, s)
}

// dropArticles puts a space in place of every article that stands alone: with
// neither a letter nor a digit of any script beside it.
func dropArticles(s string) string {
	var out strings.Builder
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(s)
		}
		switch word := s[:end]; word {
		case "a", "an", "the":
			out.WriteByte(' ')
		default:
			out.WriteString(word)
		}
		s = s[end:]
		start := strings.IndexFunc(s, inWord)
		if start < 0 {
			start = len(s)
		}
		out.WriteString(s[:start])
		s = s[start:]
	}
	return out.String()
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func squeeze(s string) string {
	return strings.Join(strings.FieldsFunc(s, isSpace), " ")
}

// isSpace adds to Unicode's white space the four separators of ASCII, which
// the reference splits at too.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}
