package rdf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapes are those of one character (N-Triples 1.1, ECHAR).
var escapes = map[byte]byte{'t': '\t', 'b': '\b', 'n': '\n', 'r': '\r', 'f': '\f', '"': '"', '\'': '\'', '\\': '\\'}

// Unescape resolves the escapes of N-Triples and Turtle in a text.
func Unescape(text string) (string, error) {
	var b strings.Builder
	b.Grow(len(text))
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		if text == "" {
			return "", errors.New("a backslash at the end")
		}
		digits := 0
		switch text[0] {
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			plain, ok := escapes[text[0]]
			if !ok {
				return "", fmt.Errorf(`\%.1s is no escape`, text)
			}
			b.WriteByte(plain)
			text = text[1:]
			continue
		}
		if len(text) < 1+digits {
			return "", fmt.Errorf(`\%s is no character`, text)
		}
		code, err := strconv.ParseUint(text[1:1+digits], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return "", fmt.Errorf(`\%s is no character`, text[:1+digits])
		}
		b.WriteRune(rune(code))
		text = text[1+digits:]
	}
}
