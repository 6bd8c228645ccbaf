// Package plot draws the plots of a report as SVG: plain marks on clear axes,
// each series named where it stands. Colours and type come from the style sheet
// of the page, so that a plot reads in light and dark. Every text is escaped.
package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Colours is the number of colours of the style sheet: classes c0 to c9.
const Colours = 10

// Mark is how a series looks: a colour and, for series of one colour, a shape.
type Mark struct {
	// Colour is 0 to Colours-1.
	Colour int
	// Shape counts through disc, square, triangle, diamond and ring.
	Shape int
}

// Size of a plot in its own units; a page scales it.
const (
	width  = 520.0
	height = 340.0
)

// box is the part of a plot in which the data stand.
type box struct{ left, top, right, bottom float64 }

// svg collects the elements of a plot.
type svg struct{ b strings.Builder }

// begin opens a plot that is read out as title and, in full, as description.
func (s *svg) begin(w, h float64, title, description string) {
	fmt.Fprintf(&s.b, `<svg class="plot" viewBox="0 0 %s %s" role="img" aria-label="%s">`, num(w), num(h),
		html.EscapeString(title))
	if description != "" {
		fmt.Fprintf(&s.b, "<desc>%s</desc>", html.EscapeString(description))
	}
}

func (s *svg) end() template.HTML {
	s.b.WriteString("</svg>")
	// Every text went through html.EscapeString, every number through num.
	return template.HTML(s.b.String())
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&s.b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

func (s *svg) rect(class string, x, y, w, h float64) {
	fmt.Fprintf(&s.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="2"/>`, class, num(x), num(y),
		num(max(w, 0)), num(h))
}

// text writes text at a place; anchor is start, middle or end.
func (s *svg) text(class, anchor string, x, y float64, text string) {
	fmt.Fprintf(&s.b, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, num(x), num(y),
		html.EscapeString(text))
}

// open opens a group in the colour of a mark, with a text that is shown where
// the pointer rests on it.
func (s *svg) open(m Mark, tip string) {
	fmt.Fprintf(&s.b, `<g class="c%d">`, ((m.Colour%Colours)+Colours)%Colours)
	if tip != "" {
		fmt.Fprintf(&s.b, "<title>%s</title>", html.EscapeString(tip))
	}
}

func (s *svg) close() { s.b.WriteString("</g>") }

// mark draws the shape of a series at a place.
func (s *svg) mark(m Mark, x, y float64) {
	const r = 5.0
	points := func(xy ...float64) {
		s.b.WriteString(`<polygon class="mark" points="`)
		for i := 0; i < len(xy); i += 2 {
			fmt.Fprintf(&s.b, "%s,%s ", num(x+xy[i]), num(y+xy[i+1]))
		}
		s.b.WriteString(`"/>`)
	}
	switch ((m.Shape % 5) + 5) % 5 {
	case 0:
		fmt.Fprintf(&s.b, `<circle class="mark" cx="%s" cy="%s" r="%s"/>`, num(x), num(y), num(r))
	case 1:
		points(-r, -r, r, -r, r, r, -r, r)
	case 2:
		points(0, -r-1, r+1, r, -r-1, r)
	case 3:
		points(0, -r-1.5, r+1.5, 0, 0, r+1.5, -r-1.5, 0)
	default:
		fmt.Fprintf(&s.b, `<circle class="mark ring" cx="%s" cy="%s" r="%s"/>`, num(x), num(y), num(r))
	}
}

// whisker draws an interval upright, with short ends.
func (s *svg) whisker(x, low, high float64) {
	s.line("whisker", x, low, x, high)
	s.line("whisker", x-3, low, x+3, low)
	s.line("whisker", x-3, high, x+3, high)
}

// num writes a coordinate; one that is no number stands at 0.
func num(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// textWidth is about how wide a text of the plots' size is.
func textWidth(text string) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijlt.,:;'|!()[]·- f", r):
			w += 4.7
		case strings.ContainsRune("mwMW%@→", r):
			w += 11.8
		case r > 0x2e80:
			w += 13
		default:
			w += 7.9
		}
	}
	return w
}

// cut shortens a text to a width.
func cut(text string, width float64) string {
	if textWidth(text) <= width {
		return text
	}
	w := textWidth("…")
	for i, r := range text {
		if w += textWidth(string(r)); w > width {
			return text[:i] + "…"
		}
	}
	return text
}
