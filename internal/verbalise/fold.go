package verbalise

import (
	"strings"
	"unicode"
)

// Fold makes names comparable that differ in case, spacing and punctuation: the
// words in small letters, with single spaces between them.
func Fold(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}), " ")
}
