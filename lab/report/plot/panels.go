package plot

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Panels shows shares of several series under several circumstances: a panel for
// each circumstance, a row for each series, so that any number of series can be
// told apart.
type Panels struct {
	// Title is what the plot shows, for who cannot see it.
	Title string
	// X says what the shares are of.
	X string
	// Names are the circumstances.
	Names []string
	// Rows are the series.
	Rows []PanelRow
}

// PanelRow is one series of Panels.
type PanelRow struct {
	// Label names it.
	Label string
	// Mark is how it looks.
	Mark Mark
	// Values, Low and High have a value with its interval for each panel; NaN
	// if there is none.
	Values, Low, High []float64
}

// SVG draws the panels. The height grows with the rows.
func (p Panels) SVG() template.HTML {
	const (
		row = 21.0
		top = 34.0
		gap = 22.0
	)
	names := 0.0
	for _, r := range p.Rows {
		names = max(names, textWidth(r.Label))
	}
	names = min(names, 190)
	left := names + 20
	each := (width - left - 22 - gap*float64(len(p.Names)-1)) / float64(max(len(p.Names), 1))
	bottom := top + row*float64(len(p.Rows))
	var s svg
	s.begin(width, bottom+46, p.Title, p.describe())
	for i, r := range p.Rows {
		s.text("name", "end", names+8, top+row*(float64(i)+.5)+4, cut(r.Label, names+4))
	}
	for j, name := range p.Names {
		a := left + float64(j)*(each+gap)
		x := newScale(Axis{Percent: true}, nil, a, a+each)
		s.text("count", "middle", a+each/2, top-14, name)
		for _, v := range []float64{0, .5, 1} {
			s.line("grid", x.position(v), top, x.position(v), bottom)
			s.text("tick", "middle", x.position(v), bottom+17, strings.TrimSuffix(x.format(v), " %"))
		}
		for i, r := range p.Rows {
			if j >= len(r.Values) || math.IsNaN(r.Values[j]) {
				continue
			}
			y := top + row*(float64(i)+.5)
			s.open(r.Mark, fmt.Sprintf("%s, %s: %s (%s to %s)", r.Label, name, x.format(r.Values[j]),
				x.format(r.Low[j]), x.format(r.High[j])))
			s.line("range", x.position(r.Low[j]), y, x.position(r.High[j]), y)
			s.mark(r.Mark, x.position(r.Values[j]), y)
			s.close()
		}
	}
	s.text("label", "middle", (left+width-22)/2, bottom+37, p.X)
	return s.end()
}

func (p Panels) describe() string {
	var parts []string
	for _, r := range p.Rows {
		var at []string
		for j, name := range p.Names {
			if j < len(r.Values) && !math.IsNaN(r.Values[j]) {
				at = append(at, fmt.Sprintf("%.0f %% at %s", r.Values[j]*100, name))
			}
		}
		parts = append(parts, r.Label+": "+strings.Join(at, ", "))
	}
	return strings.Join(parts, "; ")
}
