package terminal

import (
	"fmt"
	"io"
	"strings"
)

// Region is the last lines of a terminal, drawn again and again. It must be
// cleared before anything else is written there. Where nothing can be drawn
// again, nothing is drawn.
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

// fits tells whether the lines still have a row each.
func (r *Region) fits() bool {
	width := r.t.Width()
	for _, columns := range r.drawn {
		if columns > width {
			return false
		}
	}
	return true
}
