package store

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// letters that Unicode does not decompose into a base letter and an accent.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d",
	'þ': "th", 'ħ': "h", 'ı': "i", 'ŋ': "n", 'ŧ': "t",
}

// Fold reduces a name to what two spellings of it share: lower case, no
// accents, no punctuation, single spaces. Full stops and apostrophes vanish
// ("U.S." and "US" are one), other punctuation parts words ("AC/DC" becomes
// "ac dc"). A name of punctuation alone, such as "+", is kept in lower case.
func Fold(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	gap := false
	for _, r := range norm.NFKD.String(name) {
		r = unicode.ToLower(r)
		switch {
		case unicode.Is(unicode.Mn, r), r == '.', r == '\'', r == '’', r == '‘', r == '`':
			continue
		case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		if plain, ok := letters[r]; ok {
			b.WriteString(plain)
		} else {
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return strings.ToLower(strings.Join(strings.Fields(name), " "))
	}
	return b.String()
}

// Trigram is three neighbouring characters of a folded name, 21 bits each.
type Trigram uint64

// Trigrams returns the distinct trigrams of a folded name in ascending order.
// Two spaces before and one after make beginnings count for more.
func Trigrams(folded string) []Trigram {
	if folded == "" {
		return nil
	}
	grams := make([]Trigram, 0, len(folded)+1)
	window := Trigram(' ')<<21 | ' '
	push := func(r rune) {
		window = (window<<21 | Trigram(r)) & (1<<63 - 1)
		grams = append(grams, window)
	}
	for _, r := range folded {
		push(r)
	}
	push(' ')
	slices.Sort(grams)
	return slices.Compact(grams)
}
