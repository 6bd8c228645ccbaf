package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrapped is the least characters of a line that was broken for its length.
const wrapped = 50

// unwrap makes line ends within a paragraph spaces, character for character:
// Unicode's rules end a sentence at each.
func unwrap(text string) string {
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
		if body, cut := strings.CutSuffix(line, "\n"); cut && goesOn(body, next) {
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

// goesOn tells whether a line's sentence goes on in the next line.
func goesOn(line, next string) bool {
	line, next = strings.TrimSpace(line), strings.TrimSpace(next)
	if line == "" || next == "" || item(next) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(line)
	first, _ := utf8.DecodeRuneInString(next)
	return last == ',' || unicode.IsLower(first) || utf8.RuneCountInString(line) >= wrapped && last != ':'
}

// item tells whether a line opens a list item or a heading.
func item(line string) bool {
	switch line[0] {
	case '-', '*', '+', '#', '>', '|':
		return true
	}
	if strings.HasPrefix(line, "•") {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return digits != line && len(line)-len(digits) < 4 && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}
