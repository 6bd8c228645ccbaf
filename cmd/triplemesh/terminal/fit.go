package terminal

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// Wrap breaks clean text into lines of at most width columns, between words
// where that is possible. There is always one line.
func Wrap(text string, width int) []string {
	width = max(width, 8)
	var lines []string
	for runewidth.StringWidth(text) > width {
		head := runewidth.Truncate(text, width, "")
		cut := len(head)
		indent := len(text) - len(strings.TrimLeft(text, " "))
		if space := strings.LastIndexByte(text[:min(len(text), cut+1)], ' '); space > indent {
			cut = space
		}
		if cut == 0 { // a character wider than the line
			cut = len(string([]rune(text)[:1]))
		}
		lines = append(lines, strings.TrimRight(text[:cut], " "))
		text = strings.TrimLeft(text[cut:], " ")
	}
	return append(lines, text)
}

// Cut shortens clean text to width columns.
func Cut(text string, width int) string {
	return runewidth.Truncate(text, max(width, 1), "…")
}

// Line is any text made fit for one line of a table: clean, and at most width
// columns.
func Line(text string, width int) string { return Cut(Clean(text), width) }

// Columns is how many columns clean text takes; colours take none.
func Columns(text string) int {
	n := 0
	for {
		escape := strings.Index(text, "\x1b[")
		if escape < 0 {
			return n + runewidth.StringWidth(text)
		}
		n += runewidth.StringWidth(text[:escape])
		end := strings.IndexByte(text[escape:], 'm')
		if end < 0 {
			return n
		}
		text = text[escape+end+1:]
	}
}

// Pad fills clean text with spaces to width columns, and cuts what is longer.
func Pad(text string, width int) string {
	text = Cut(text, width)
	return text + strings.Repeat(" ", max(0, width-Columns(text)))
}
