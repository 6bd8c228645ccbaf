package bench

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
)

// Sizes of a plot in pixels.
const (
	plotWidth  = 760
	labelWidth = 260
	barHeight  = 22
	barGap     = 6
	margin     = 16
)

// WriteSVG draws one contest: a bar for each contestant, on a logarithmic
// scale where the slowest is more than twenty times the fastest.
func WriteSVG(out io.Writer, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	values := make([]float64, len(rows))
	for i, r := range rows {
		values[i] = r.Value
	}
	least, most := slices.Min(values), slices.Max(values)
	length := func(v float64) float64 { return v / most }
	scale := ""
	if least > 0 && most > 20*least {
		floor := math.Pow(10, math.Floor(math.Log10(least)))
		length = func(v float64) float64 { return math.Log(v/floor) / math.Log(most/floor) }
		scale = ", logarithmic"
	}
	height := 3*margin + len(rows)*(barHeight+barGap)
	p := &printer{out: out}
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+
		"\n", plotWidth, height)
	p.printf(`<rect width="100%%" height="100%%" fill="white"/>` + "\n")
	p.printf(`<text x="%d" y="%d" font-weight="bold">%s (%s%s)</text>`+"\n", margin, margin+4,
		html.EscapeString(rows[0].Contest), html.EscapeString(rows[0].Unit), scale)
	room := float64(plotWidth - labelWidth - 110)
	for i, r := range rows {
		y := 2*margin + i*(barHeight+barGap)
		colour := "#9aa5b1"
		if i == 0 {
			colour = "#2563eb"
		}
		width := max(room*length(r.Value), 1)
		said := number(r.Value)
		if r.Ratio > 0 {
			said += fmt.Sprintf(" (%s)", ratio(r.Ratio))
		}
		p.printf(`<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", labelWidth-8, y+barHeight-7,
			html.EscapeString(r.Name))
		p.printf(`<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", labelWidth, y, width,
			barHeight, colour)
		p.printf(`<text x="%.1f" y="%d">%s</text>`+"\n", float64(labelWidth)+width+6, y+barHeight-7, said)
	}
	p.printf("</svg>\n")
	return p.err
}

// printer remembers the first error.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}
