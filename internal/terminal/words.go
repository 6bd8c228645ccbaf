package terminal

import (
	"fmt"
	"strings"
	"time"
)

// Unit is what a task counts: "questions".
type Unit string

const (
	// Percent counts to a hundred.
	Percent Unit = "%"
	// Bytes are told in kB, MB and GB.
	Bytes Unit = "bytes"
)

// barColumns is the width of a bar.
const barColumns = 20

// Bar returns a bar of some columns.
func Bar(t *Terminal, done, total int64, columns int) string {
	full := 0
	if total > 0 {
		full = int(min(1, float64(done)/float64(total)) * float64(columns))
	}
	if t.Unicode {
		return strings.Repeat("█", full) + strings.Repeat("░", columns-full)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", columns-full) + "]"
}

// bar returns a task on one line. Where there is not room for all of it, the bar goes
// first, then how much, then how fast.
func (t *Task) bar(names, width int) string {
	bar, percent := "", ""
	if t.total == 0 && t.done == 0 { // it is alive, and that is all that is known
		percent = formatDuration(t.board.now().Sub(t.began))
	}
	if t.total > 0 {
		bar, percent = Bar(t.board.terminal, t.done, t.total, barColumns), fmt.Sprintf("%3d %%", t.percent())
	}
	left := t.leftWords()
	parts := [][]string{
		{bar, percent, t.amount(), t.rate(), left, t.note},
		{percent, t.amount(), t.rate(), left, t.note},
		{percent, t.amount(), left, t.note},
		{percent, left, t.note},
		{percent, left},
	}
	for _, p := range parts {
		if line := Pad(t.name, names) + "  " + joinNonEmpty(p, "  "); Columns(line) <= width {
			return line
		}
	}
	rest := joinNonEmpty(parts[len(parts)-1], "  ")
	name := max(8, width-Columns(rest)-2)
	return t.cut(t.cut(t.name, name)+"  "+rest, width)
}

func (t *Task) cut(text string, width int) string {
	if t.board.terminal.Unicode || Columns(text) <= width {
		return Cut(text, width)
	}
	return Cut(text, width-3) + "..."
}

// line returns a task in a log.
func (t *Task) line() string {
	percent := ""
	if t.total > 0 {
		percent = fmt.Sprintf("%d %%", t.percent())
	}
	return t.name + ": " + joinNonEmpty([]string{percent, t.amount(), t.rate(), t.leftWords(), t.note}, ", ")
}

func joinNonEmpty(parts []string, by string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, by)
}

func (t *Task) amount() string {
	switch {
	case t.unit == Percent:
		return ""
	case t.unit == Bytes && t.total > 0:
		return FormatSize(t.done) + " of " + FormatSize(t.total)
	case t.unit == Bytes && t.done > 0:
		return FormatSize(t.done)
	case t.total > 0:
		return fmt.Sprintf("%d of %d %s", t.done, t.total, t.unit)
	case t.done == 0:
		return ""
	}
	return fmt.Sprintf("%d %s", t.done, t.unit)
}

func (t *Task) rate() string {
	rate := t.pace.rate(t.board.now())
	switch {
	case rate <= 0 || t.unit == Percent:
		return ""
	case t.unit == Bytes:
		return FormatSize(int64(rate)) + "/s"
	case rate >= 10:
		return fmt.Sprintf("%.0f/s", rate)
	case rate >= 1:
		return fmt.Sprintf("%.1f/s", rate)
	}
	return fmt.Sprintf("%.1f/min", rate*60)
}

func (t *Task) leftWords() string {
	left, known := t.remaining()
	if !known || left <= 0 {
		return ""
	}
	return "about " + formatDuration(left) + " left"
}

// formatDuration returns a time as exact as it deserves: 8 s, 50 s, 4 min, 2 h 10 min.
func formatDuration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%d s", int(max(1, d.Round(time.Second)/time.Second)))
	case d < 55*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(5*time.Second)/time.Second))
	case d < time.Hour-30*time.Second:
		return fmt.Sprintf("%d min", int(max(1, d.Round(time.Minute)/time.Minute)))
	}
	d = d.Round(10 * time.Minute)
	hours, minutes := int(d/time.Hour), int(d%time.Hour/time.Minute)
	if minutes == 0 || hours >= 10 {
		return fmt.Sprintf("%d h", hours)
	}
	return fmt.Sprintf("%d h %d min", hours, minutes)
}

// FormatSize writes a number of bytes for people.
func FormatSize(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%d MB", (n+5e5)/1e6)
	}
	return fmt.Sprintf("%d kB", (n+999)/1e3)
}
