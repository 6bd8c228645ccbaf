// Package show prints runs for people: the answer, what it rests on, and the
// way it went. Everything a run holds was written by a model, a user or a
// knowledge graph, so control characters in it are shown, not sent to the
// terminal.
package show

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// Style says what the output is for.
type Style struct {
	// Colour switches ANSI colours on.
	Colour bool
	// Width in columns; 0 takes 80.
	Width int
}

// Colours, as ANSI numbers.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// page writes lines and keeps the first error, so that those who fill it need
// not look at each.
type page struct {
	w     io.Writer
	style Style
	err   error
}

func newPage(w io.Writer, s Style) *page {
	if s.Width == 0 {
		s.Width = 80
	}
	s.Width = max(s.Width, 40)
	return &page{w: w, style: s}
}

func (p *page) print(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// paint colours text that is clean already.
func (p *page) paint(colour, text string) string {
	if !p.style.Colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// heading opens a part of the page.
func (p *page) heading(title, note string) {
	line := p.paint(bold, title)
	if note != "" {
		line += "  " + p.paint(dim, clean(note))
	}
	p.print("\n" + line + "\n")
}

// item writes text after a label, broken at words so that every line fits,
// each further line below the beginning of the text. The label counts with its
// columns and may be coloured.
func (p *page) item(indent int, label, colour, text string) {
	hang := indent + runewidth.StringWidth(label)
	lead := strings.Repeat(" ", indent) + p.paint(colour, label)
	for _, line := range wrap(clean(text), p.style.Width-hang) {
		p.print(lead + line + "\n")
		lead = strings.Repeat(" ", hang)
	}
}

// itemf is item without a colour.
func (p *page) itemf(indent int, label, format string, args ...any) {
	p.item(indent, label, "", fmt.Sprintf(format, args...))
}

// block writes text line by line as it is, such as code.
func (p *page) block(indent int, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		p.item(indent, "", "", strings.TrimRight(line, "\r\n"))
	}
}

// clean makes every character that would do something to a terminal, or hide
// something from the reader, visible. Line breaks become spaces.
func clean(s string) string {
	safe := func(r rune) bool {
		return r == unicode.ReplacementChar || unicode.IsPrint(r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case safe(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// wrap breaks text into lines of at most width columns, between words where
// that is possible. There is always one line.
func wrap(text string, width int) []string {
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

// cut shortens clean text to width columns.
func cut(text string, width int) string {
	return runewidth.Truncate(text, max(width, 1), "…")
}

// Line is text made fit for one line of a table: clean, and at most width
// columns.
func Line(text string, width int) string { return cut(clean(text), width) }
