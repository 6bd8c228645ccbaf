package plot

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Point is one labelled point with the interval of its height.
type Point struct {
	// Label is drawn beside it.
	Label string
	// X and Y are where it stands, Low and High its interval.
	X, Y, Low, High float64
	// Mark is how it looks.
	Mark Mark
}

// Scatter is a plot of points.
type Scatter struct {
	// Title is what the plot shows, for who cannot see it.
	Title string
	// X and Y are its axes.
	X, Y Axis
	// Points are drawn in their order; labels of the first lie best.
	Points []Point
}

// SVG draws the plot.
func (p Scatter) SVG() template.HTML {
	b := box{left: 58, top: 34, right: width - 16, bottom: height - 52}
	var xs, ys []float64
	for _, pt := range p.Points {
		xs, ys = append(xs, pt.X), append(ys, pt.Y, pt.Low, pt.High)
	}
	x, y := newScale(p.X, xs, b.left, b.right), newScale(p.Y, ys, b.bottom, b.top)
	var s svg
	s.begin(width, height, p.Title, p.describe(x, y))
	s.axes(b, x, y)
	var taken []area
	places := make([]labelled, len(p.Points))
	for i, pt := range p.Points {
		px, py := x.position(pt.X), y.position(pt.Y)
		places[i] = labelled{px, py, cut(pt.Label, 200)}
		taken = append(taken, area{px - 7, py - 7, 14, 14}, area{px - 3, y.position(pt.High), 6,
			y.position(pt.Low) - y.position(pt.High)})
	}
	labels := placeLabels(places, taken, b)
	for i := range p.Points {
		s.leader(places[i], labels[i])
	}
	for i, pt := range p.Points {
		s.open(pt.Mark, fmt.Sprintf("%s: %s, %s (%s to %s)", pt.Label, x.format(pt.X), y.format(pt.Y), y.format(pt.Low),
			y.format(pt.High)))
		s.whisker(places[i].x, y.position(pt.Low), y.position(pt.High))
		s.mark(pt.Mark, places[i].x, places[i].y)
		s.close()
	}
	for i, a := range labels {
		s.label(places[i], a)
	}
	return s.end()
}

func (p Scatter) describe(x, y scale) string {
	points := slices.SortedFunc(slices.Values(p.Points), func(a, b Point) int { return cmp.Compare(b.Y, a.Y) })
	parts := make([]string, len(points))
	for i, pt := range points {
		parts[i] = fmt.Sprintf("%s: %s at %s", pt.Label, y.format(pt.Y), x.format(pt.X))
	}
	return strings.Join(parts, "; ")
}
