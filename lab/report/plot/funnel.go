package plot

import (
	"fmt"
	"html/template"
	"strings"
)

// Bar is one stage of a funnel.
type Bar struct {
	// Label names the stage.
	Label string
	// Count is of how many questions a right answer was still there.
	Count int
	// Otherwise is how many of Count did not have one at the stage before: drawn
	// paler.
	Otherwise int
}

// Funnel shows how many questions are left after each stage of one method.
type Funnel struct {
	// Title is what the plot shows, for who cannot see it.
	Title string
	// Mark is the colour of the method.
	Mark Mark
	// Bars are the stages, from all questions to the right answers.
	Bars []Bar
}

// SVG draws the funnel. Its height grows with the stages.
func (f Funnel) SVG() template.HTML {
	const (
		w     = 360.0
		row   = 30.0
		left  = 112.0
		right = w - 72
	)
	most := 1
	parts := make([]string, len(f.Bars))
	for i, b := range f.Bars {
		most = max(most, b.Count)
		parts[i] = fmt.Sprintf("%s: %d", b.Label, b.Count)
	}
	var s svg
	h := row*float64(len(f.Bars)) + 4
	s.begin(w, h, f.Title, strings.Join(parts, "; "))
	length := func(n int) float64 { return float64(n) / float64(most) * (right - left) }
	for i, b := range f.Bars {
		y := float64(i)*row + 4
		s.text("tick", "end", left-8, y+15, cut(b.Label, left-10))
		s.rect("rest", left, y, right-left, 21)
		tip := fmt.Sprintf("%s: %d of %d", b.Label, b.Count, most)
		if b.Otherwise > 0 {
			tip += fmt.Sprintf(", %d of them not from the stage before", b.Otherwise)
		}
		s.open(f.Mark, tip)
		s.rect("bar", left, y, length(b.Count-b.Otherwise), 21)
		s.rect("bar pale", left+length(b.Count-b.Otherwise), y, length(b.Otherwise), 21)
		s.close()
		s.text("count", "start", right+8, y+15, fmt.Sprint(b.Count))
		if i > 0 {
			if lost := f.Bars[i-1].Count - (b.Count - b.Otherwise); lost > 0 {
				s.text("lost", "end", w-2, y+15, fmt.Sprintf("−%d", lost))
			}
		}
	}
	return s.end()
}
