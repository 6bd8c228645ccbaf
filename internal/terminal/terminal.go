// Package terminal prints to a terminal: text fitted to its width, and the progress of tasks, drawn
// in place or, if the output is a log, as a line now and then. Escape codes in text that comes from
// a knowledge graph, a model or a user are made harmless.
package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// Terminal is a place that lines are written to.
type Terminal struct {
	// Out takes what is written, escape codes included.
	Out io.Writer
	// Live says that lines can be drawn again: it is a terminal, and no dumb one.
	Live bool
	// Colour says that colours are shown and wanted.
	Colour bool
	// Unicode says that more than ASCII is shown.
	Unicode bool
	// Columns asks for the width; nil if there is none.
	Columns func() int
}

// Detect returns the terminal behind a writer, as the environment describes it: TERM, NO_COLOR, and
// LC_ALL, LC_CTYPE or LANG. What is no terminal, such as a pipe, takes Unicode and nothing else.
func Detect(w io.Writer, env []string) *Terminal {
	t := &Terminal{Out: Raw(w), Unicode: true}
	f, ok := t.Out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return t
	}
	t.Live = lookupEnv(env, "TERM") != "dumb"
	t.Colour = t.Live && lookupEnv(env, "NO_COLOR") == ""
	t.Unicode = speaksUnicode(env)
	t.Columns = func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return columns
	}
	return t
}

// IsTerminal reports whether a writer leads to a terminal.
func IsTerminal(w any) bool {
	if writer, ok := w.(io.Writer); ok {
		w = Raw(writer)
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

const (
	// defaultWidth is the width of a terminal that does not say.
	defaultWidth = 80
	// minWidth is the least width that is believed.
	minWidth = 20
)

// Width returns how many columns there are now: it changes with the window.
func (t *Terminal) Width() int {
	if t.Columns != nil {
		if n := t.Columns(); n > 0 {
			return max(n, minWidth)
		}
	}
	return defaultWidth
}

// Pick returns the first text where Unicode is shown, and else the second.
func (t *Terminal) Pick(unicode, ascii string) string {
	if t.Unicode {
		return unicode
	}
	return ascii
}

// speaksUnicode reads the locale as libc does: the first of the variables that
// is set counts, and none of them is the locale C.
func speaksUnicode(env []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(lookupEnv(env, name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return false
}

// lookupEnv returns the last of a variable's values; empty if it is not set.
func lookupEnv(env []string, name string) (last string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			last = v
		}
	}
	return last
}

// Region is the last lines of a terminal, drawn again and again. It must be cleared before anything
// else is written there. Where nothing can be drawn again, nothing is drawn.
type Region struct {
	t *Terminal
	// drawn are the columns of the lines that stand there.
	drawn []int
	text  string
}

// NewRegion begins below what was written so far.
func NewRegion(t *Terminal) *Region { return &Region{t: t} }

// Draw puts lines in place of those that stand there. They are clean, may be
// coloured, and should be shorter than the terminal is wide.
func (r *Region) Draw(lines ...string) {
	text := strings.Join(lines, "\n")
	if !r.t.Live || text == r.text && r.fits() {
		return
	}
	_, _ = io.WriteString(r.t.Out, r.erasure()+text)
	r.text, r.drawn = text, nil
	for _, line := range lines {
		r.drawn = append(r.drawn, Columns(line))
	}
}

// Clear takes the lines away.
func (r *Region) Clear() {
	if erasure := r.erasure(); erasure != "" {
		_, _ = io.WriteString(r.t.Out, erasure)
	}
	r.drawn, r.text = nil, ""
}

// erasure goes back to the first line and removes what follows. In a window
// that was made narrower, lines take several rows.
func (r *Region) erasure() string {
	if len(r.drawn) == 0 {
		return ""
	}
	rows, width := 0, r.t.Width()
	for _, columns := range r.drawn {
		rows += max(1, (columns+width-1)/width)
	}
	if rows == 1 {
		return "\r\x1b[K"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows-1)
}

// fits reports whether the lines still have a row each.
func (r *Region) fits() bool {
	width := r.t.Width()
	return !slices.ContainsFunc(r.drawn, func(columns int) bool { return columns > width })
}

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

// Line returns any text made fit for one line of a table: clean, and at most width columns.
func Line(text string, width int) string { return Cut(Clean(text), width) }

// Columns returns how many columns clean text takes; colours take none.
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
