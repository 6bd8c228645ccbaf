package wordpiece

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// words yields the words of a text in lower case and without accents. Every
// punctuation mark and every Chinese character is a word of its own.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var word []byte
		flush := func() bool {
			if len(word) == 0 {
				return true
			}
			w := string(word)
			word = word[:0]
			return yield(w)
		}
		alone := func(r rune) bool {
			return flush() && yield(string(unicode.ToLower(r)))
		}
		for _, r := range decomposed(text) {
			more := true
			switch {
			case r == 0, r == utf8.RuneError, unicode.Is(unicode.Mn, r):
			case r == '\t', r == '\n', r == '\r':
				more = flush()
			case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			case unicode.IsSpace(r):
				more = flush()
			case chinese(r), punctuation(r):
				more = alone(r)
			default:
				word = utf8.AppendRune(word, unicode.ToLower(r))
			}
			if !more {
				return
			}
		}
		flush()
	}
}

// decomposed splits accents from letters; plain ASCII needs none of it.
func decomposed(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return norm.NFD.String(text)
		}
	}
	return text
}

// punctuation counts all ASCII symbols as punctuation, as BERT does.
func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
	}
	return unicode.IsPunct(r)
}

// chinese tells the CJK ideographs that BERT sets apart.
func chinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF ||
		r >= 0x3400 && r <= 0x4DBF ||
		r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F ||
		r >= 0x2B740 && r <= 0x2B81F ||
		r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x2F800 && r <= 0x2FA1F
}
