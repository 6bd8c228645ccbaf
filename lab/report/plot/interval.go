package plot

import "html/template"

// Interval draws a share with its interval on a line from 0 to 1, small enough
// for the cell of a table. The cell says in words what it shows.
func Interval(value, low, high float64, m Mark) template.HTML {
	const w, h = 72.0, 9.0
	at := func(v float64) float64 { return 3 + min(max(v, 0), 1)*(w-6) }
	var s svg
	s.b.WriteString(`<svg class="interval" viewBox="0 0 72 9" aria-hidden="true">`)
	s.line("axis", 3, h/2, w-3, h/2)
	s.open(m, "")
	s.line("range", at(low), h/2, at(high), h/2)
	s.b.WriteString(`<circle class="mark" cx="` + num(at(value)) + `" cy="4.5" r="3.2"/>`)
	s.close()
	return s.end()
}
