package load

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// Sizes of a plot in pixels: two panels over the same seconds.
const (
	plotWidth, plotHeight = 760, 420
	left, right, top      = 60, 16, 28
	panel, gap            = 150, 48
)

// WriteSVG draws the run second by second: above, how many questions came and
// how many whole answers did; below, the 99th percentile of the time of those
// that were answered, logarithmic.
func (r *Report) WriteSVG(out io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n",
		plotWidth, plotHeight)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	end := 1.0
	for _, s := range r.Steps {
		end = max(end, s.At+s.Length)
	}
	var seconds []Second
	for _, s := range r.Seconds {
		if float64(s.At) < end {
			seconds = append(seconds, s)
		}
	}
	x := func(at float64) float64 { return left + at/end*(plotWidth-left-right) }
	r.drawSteps(&b, x)

	most := 1.0
	slowest, fastest := 1.0, math.Inf(1)
	for _, s := range seconds {
		most = max(most, float64(s.Sent), float64(s.Came))
		if s.P99 > 0 {
			slowest, fastest = max(slowest, s.P99), min(fastest, s.P99)
		}
	}
	rates := axis{y: top, least: 0, most: most}
	rates.draw(&b, "questions per second", 0, most/2, most)
	curve(&b, seconds, x, rates.position, "#9aa5b1", func(s Second) (float64, bool) { return float64(s.Sent), true })
	curve(&b, seconds, x, rates.position, "#2563eb", func(s Second) (float64, bool) { return float64(s.Came), true })
	fmt.Fprintf(&b,
		`<text x="%d" y="%d"><tspan fill="#6b7280">asked</tspan> <tspan fill="#2563eb">whole answers</tspan></text>`+
			"\n", left, top+panel+14)

	fastest = min(fastest, slowest)
	floor, ceiling := math.Floor(math.Log10(fastest)), math.Ceil(math.Log10(slowest))
	tail := axis{y: top + panel + gap, least: floor, most: max(ceiling, floor+1)}
	for decade := tail.least; decade <= tail.most; decade++ {
		tail.tick(&b, decade, number(math.Pow(10, decade)))
	}
	tail.label(&b, "99th percentile, ms")
	curve(&b, seconds, x, tail.position, "#b45309", func(s Second) (float64, bool) {
		return math.Log10(s.P99),
			s.P99 > 0
	})
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">seconds: 0 to %s</text>`+"\n", (left+plotWidth)/2,
		plotHeight-16, number(end))
	b.WriteString("</svg>\n")
	_, err := out.Write(b.Bytes())
	return err
}

// WriteHTML writes the same as a page with the table below.
func (r *Report) WriteHTML(out io.Writer) error {
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		return err
	}
	if _, err := io.WriteString(out,
		"<!doctype html><meta charset=\"utf-8\"><title>triplemesh under load</title>\n"); err != nil {
		return err
	}
	if err := r.WriteSVG(out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "<pre>%s</pre>\n", html.EscapeString(table.String()))
	return err
}

// drawSteps marks where each step begins.
func (r *Report) drawSteps(b *bytes.Buffer, x func(float64) float64) {
	for _, s := range r.Steps {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#e5e7eb"/><text x="%.1f" y="%d">%s</text>`+
			"\n",
			x(s.At), top, x(s.At), top+2*panel+gap, x(s.At)+3, top-8, html.EscapeString(s.title()))
	}
}

// axis is the height of a panel, from its values to pixels.
type axis struct {
	y           int
	least, most float64
}

func (a axis) position(v float64) float64 {
	return float64(a.y) + panel*(1-(v-a.least)/(a.most-a.least))
}

func (a axis) draw(b *bytes.Buffer, label string, ticks ...float64) {
	for _, v := range ticks {
		a.tick(b, v, number(v))
	}
	a.label(b, label)
}

func (a axis) tick(b *bytes.Buffer, v float64, text string) {
	fmt.Fprintf(b,
		`<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#e5e7eb"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+
			"\n",
		left, a.position(v), plotWidth-right, a.position(v), left-5, a.position(v)+4, text)
}

func (a axis) label(b *bytes.Buffer, text string) {
	middle := a.y + panel/2
	fmt.Fprintf(b, `<text x="12" y="%d" text-anchor="middle" transform="rotate(-90 12 %d)">%s</text>`+"\n",
		middle, middle, text)
}

// curve joins the seconds that have a value.
func curve(b *bytes.Buffer, seconds []Second, x, y func(float64) float64, colour string,
	value func(Second) (float64, bool)) {
	var points []string
	for _, s := range seconds {
		if v, ok := value(s); ok {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(float64(s.At)+0.5), y(v)))
		}
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`+"\n", colour,
		strings.Join(points, " "))
}
