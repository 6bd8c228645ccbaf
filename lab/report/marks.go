package report

import (
	"slices"

	"github.com/triplemesh/triplemesh/lab/report/plot"
)

// colours gives each method the same colour all over a report. The numbers are
// those of the style sheet.
var colours = []string{"pg-akv", "ger", "auto", "rag", "tog", "rog", "io", "cot", "sc", "tog-r"}

// marks tells the evaluations of a group apart: a colour for the method, a shape
// for each variant of it.
func marks(evaluations []*Evaluation) []plot.Mark {
	out := make([]plot.Mark, len(evaluations))
	variants := make(map[string]int)
	strangers := 0
	for i, e := range evaluations {
		method := e.Manifest().Method
		c := slices.Index(colours, method)
		if c < 0 {
			c = strangers
			strangers++
		}
		out[i] = plot.Mark{Colour: c % plot.Colours, Shape: variants[method]}
		variants[method]++
	}
	return out
}
