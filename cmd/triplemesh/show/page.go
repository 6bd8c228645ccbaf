// Package show prints runs for people: the answer, what it rests on, and the
// way it went. Everything a run holds was written by a model, a user or a
// knowledge graph, so control characters in it are shown, not sent to the
// terminal.
package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
)

// Style says what the output is for.
type Style struct {
	// Colour switches ANSI colours on.
	Colour bool
	// Width in columns; 0 takes 80.
	Width int
	// ASCII draws nothing of its own with other characters.
	ASCII bool
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
	return &page{w: terminal.Raw(w), style: s}
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

// clean makes text fit for the terminal. Arrows and dashes, which are ours, are
// drawn with ASCII where nothing else is shown.
func (p *page) clean(text string) string {
	if p.style.ASCII {
		text = plain.Replace(text)
	}
	return terminal.Clean(text)
}

var plain = strings.NewReplacer("→", "->", "←", "<-", "—", "--", "⁻¹", "^-1", "“", `"`, "”", `"`, "…", "...",
	"├─", "|-", "└─", "`-", "│", "|")

// heading opens a part of the page.
func (p *page) heading(title, note string) {
	lead, hang := "\n"+p.paint(bold, title), terminal.Columns(title)+2
	if note == "" {
		p.print(lead + "\n")
		return
	}
	for _, line := range terminal.Wrap(p.clean(note), p.style.Width-hang) {
		p.print(lead + "  " + p.paint(dim, line) + "\n")
		lead = strings.Repeat(" ", hang-2)
	}
}

// item writes text after a label, broken at words so that every line fits,
// each further line below the beginning of the text. The label counts with its
// columns and may be coloured.
func (p *page) item(indent int, label, colour, text string) {
	label = p.clean(label)
	hang := indent + terminal.Columns(label)
	lead := strings.Repeat(" ", indent) + p.paint(colour, label)
	for _, line := range terminal.Wrap(p.clean(text), p.style.Width-hang) {
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

// Line is text made fit for one line of a table: clean, and at most width
// columns.
func Line(text string, width int) string { return terminal.Line(text, width) }
