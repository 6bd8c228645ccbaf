package plot

import (
	"fmt"
	"html/template"
	"slices"
	"sort"
	"strings"
)

// Line is one series of a plot of lines.
type Line struct {
	// Label is drawn at its right end.
	Label string
	// Mark is how it looks.
	Mark Mark
	// X and Y are its points, from left to right.
	X, Y []float64
}

// Lines is a plot of steps over shares.
type Lines struct {
	// Title is what the plot shows, for who cannot see it.
	Title string
	// X and Y are its axes.
	X, Y Axis
	// Lines are the series.
	Lines []Line
}

// SVG draws the plot.
func (p Lines) SVG() template.HTML {
	names := 0.0
	for _, l := range p.Lines {
		names = max(names, textWidth(l.Label))
	}
	names = min(names, 190)
	b := box{left: 58, top: 34, right: width - 22 - names, bottom: height - 52}
	y := newScale(p.Y, nil, b.bottom, b.top)
	x := newScale(p.X, nil, b.left, b.right)
	var s svg
	s.begin(width, height, p.Title, p.describe(x, y))
	s.axes(b, x, y)
	ends := make([]float64, len(p.Lines))
	for i, l := range p.Lines {
		s.open(l.Mark, l.Label)
		s.steps(l, x, y)
		s.close()
		if len(l.Y) > 0 {
			ends[i] = y.position(l.Y[len(l.Y)-1])
		}
	}
	for i, at := range spread(ends, lineHeight, b.top, b.bottom) {
		l := p.Lines[i]
		if len(l.X) == 0 {
			continue
		}
		s.open(l.Mark, "")
		s.line("pointer", min(x.position(l.X[len(l.X)-1])+4, b.right), ends[i], b.right+9, at)
		s.close()
		s.text("name", "start", b.right+13, at+4, cut(l.Label, names+4))
	}
	return s.end()
}

func (s *svg) steps(l Line, x, y scale) {
	var path strings.Builder
	for i := range l.X {
		if i > 0 {
			fmt.Fprintf(&path, "%s,%s ", num(x.position(l.X[i])), num(y.position(l.Y[i-1])))
		}
		fmt.Fprintf(&path, "%s,%s ", num(x.position(l.X[i])), num(y.position(l.Y[i])))
	}
	fmt.Fprintf(&s.b, `<polyline class="curve d%d" points="%s"/>`, ((l.Mark.Shape%5)+5)%5, path.String())
	if n := len(l.X); n > 0 {
		s.mark(l.Mark, x.position(l.X[n-1]), y.position(l.Y[n-1]))
	}
}

func (p Lines) describe(x, y scale) string {
	var parts []string
	for _, l := range p.Lines {
		if len(l.X) == 0 {
			continue
		}
		var at []string
		for i := range l.X {
			if len(l.X) <= 8 || i == 0 || i == len(l.X)-1 {
				at = append(at, fmt.Sprintf("%s at %s", y.format(l.Y[i]), x.format(l.X[i])))
			}
		}
		parts = append(parts, l.Label+": "+strings.Join(at, ", "))
	}
	return strings.Join(parts, "; ")
}

// ascending returns the indices of values from the least to the greatest.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return values[order[a]] < values[order[b]] })
	return slices.Clip(order)
}
