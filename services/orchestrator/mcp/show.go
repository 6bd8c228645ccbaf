package mcp

import (
	"fmt"
	"math"
	"strings"

	"github.com/triplemesh/triplemesh/internal/prompt"
)

// maxName is the most characters of a name that are shown in a text; the
// structured output has all of it.
const maxName = 300

// clean shows a text that somebody else wrote as part of a line.
func clean(s string) string { return prompt.Line(s) }

// name shows the name of something in a knowledge graph as part of a line: not
// too long, and with the bars that part a triple escaped.
func name(s string) string {
	s = clean(s)
	if runes := []rune(s); len(runes) > maxName {
		s = string(runes[:maxName]) + "…"
	}
	return bars.Replace(s)
}

var bars = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// quote shows a text of several lines: each begins with a mark that nothing the
// server says begins with.
func quote(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		if line = clean(line); line != "" {
			out.WriteString("> " + line + "\n")
		}
	}
	return out.String()
}

// round is a score with three digits: more would only be more to read.
func round[F float32 | float64](f F) float64 {
	return math.Round(float64(f)*1000) / 1000
}

// page is a text that is written line by line.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// count is "1 triple", "2 triples".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
