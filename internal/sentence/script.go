package sentence

import "unicode"

// Foreign tells whether a text is written in scripts of which nothing that is
// known has a letter: most of its letters are such. Languages of one script are
// not told apart.
func Foreign(text, known string) bool {
	heard := map[*unicode.RangeTable]bool{}
	for _, r := range known {
		heard[script(r)] = true
	}
	letters, strange := 0, 0
	for _, r := range text {
		if s := script(r); s != nil {
			letters++
			if !heard[s] {
				strange++
			}
		}
	}
	return letters > 0 && 2*strange > letters
}

// script is that of a letter, nil for anything else. Those of one language are
// one.
func script(r rune) *unicode.RangeTable {
	if !unicode.IsLetter(r) {
		return nil
	}
	for _, s := range []*unicode.RangeTable{
		unicode.Latin, unicode.Han, unicode.Cyrillic, unicode.Arabic, unicode.Hangul, unicode.Greek,
		unicode.Hebrew, unicode.Thai, unicode.Devanagari, unicode.Bengali, unicode.Tamil,
	} {
		if unicode.Is(s, r) {
			return s
		}
	}
	if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
		return unicode.Han
	}
	return unicode.Other
}
