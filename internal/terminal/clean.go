package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text fit for one line of a terminal: every character that would
// steer it, turn the direction of the text or hide from the reader is written
// out, as \u001b, and line breaks and other white space become spaces.
func Clean(s string) string { return clean(s, false) }

// Text is Clean for text of several lines: line feeds stay.
func Text(s string) string { return clean(s, true) }

func clean(s string, lines bool) string {
	if isClean(s, lines) {
		return s
	}
	var b strings.Builder
	before := utf8.RuneError
	for i, r := range s {
		size := utf8.RuneLen(r)
		switch {
		case lines && r == '\n':
			b.WriteByte('\n')
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case isVisible(r) || isNeededJoiner(r, before, s[i+size:]):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		before = r
	}
	return b.String()
}

// isClean reports whether there is nothing to clean, without a copy. Bytes that are
// no UTF-8 do something on some terminals.
func isClean(s string, lines bool) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
		return !isVisible(r) && (!lines || r != '\n')
	}) < 0
}

func isVisible(r rune) bool { return r == unicode.ReplacementChar || unicode.IsPrint(r) }

// isNeededJoiner reports whether a joiner stands where languages and emoji need it: within a word
// of other letters than ASCII. Elsewhere it would only make two names look alike.
func isNeededJoiner(r, before rune, after string) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	next, _ := utf8.DecodeRuneInString(after)
	return (r == nonJoiner || r == joiner) && isWordRune(before) && isWordRune(next)
}

func isWordRune(r rune) bool {
	return r > unicode.MaxASCII && r != unicode.ReplacementChar && unicode.In(r, unicode.L, unicode.M,
		unicode.So, unicode.Sk)
}

// Cleaner returns a writer that cleans what goes to a terminal, line feeds aside.
// What goes elsewhere, into a file or a pipe, it leaves as it is. Text that is
// clean and coloured already goes to Raw.
func Cleaner(w io.Writer) io.Writer {
	if !IsTerminal(w) {
		return w
	}
	return cleaner{Raw(w)}
}

// Raw returns the writer below a Cleaner.
func Raw(w io.Writer) io.Writer {
	if c, ok := w.(cleaner); ok {
		return c.w
	}
	return w
}

type cleaner struct{ w io.Writer }

// Write cleans each call's text by itself: what is cut within a character is shown as such.
func (c cleaner) Write(p []byte) (int, error) {
	// Tables are set with spaces, but usage texts may hold tabs.
	text := strings.ReplaceAll(string(p), "\t", "    ")
	if _, err := io.WriteString(c.w, Text(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}
