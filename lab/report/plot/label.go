package plot

import "math"

// area is a part of the plot that something covers.
type area struct{ x, y, w, h float64 }

func (a area) overlap(b area) float64 {
	w := min(a.x+a.w, b.x+b.w) - max(a.x, b.x)
	h := min(a.y+a.h, b.y+b.h) - max(a.y, b.y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h
}

// labelled is a place that wants a label beside it.
type labelled struct {
	x, y float64
	text string
}

const lineHeight = 15.0

// placeLabels finds an area for each label: beside its place where that is
// free, else as near as it can be without covering anything. It goes through
// the places in their order, so that what comes first lies best.
func placeLabels(places []labelled, taken []area, within box) []area {
	placed := make([]area, len(places))
	for i, p := range places {
		w := textWidth(p.text)
		best, bestCost := area{}, math.Inf(1)
		for _, distance := range []float64{9, 22, 38, 56, 78, 104} {
			for _, way := range [][2]float64{{1, 0}, {-1, 0}, {.9, -.6}, {.9, .6}, {-.9, -.6}, {-.9, .6},
				{0, -1}, {0, 1}} {
				a := labelArea(p, way, distance, w)
				cost := distance + 4*outside(a, within)
				for _, other := range taken {
					if covered := a.overlap(other); covered > 0 {
						cost += 50 + 2*covered
					}
				}
				if cost < bestCost {
					best, bestCost = a, cost
				}
			}
		}
		placed[i] = best
		taken = append(taken, best)
	}
	return placed
}

// labelArea returns the area of a label that lies a way and a distance from its place.
func labelArea(p labelled, way [2]float64, distance, w float64) area {
	a := area{y: p.y + way[1]*distance - lineHeight/2, w: w, h: lineHeight}
	switch {
	case way[0] > 0:
		a.x = p.x + way[0]*distance
	case way[0] < 0:
		a.x = p.x + way[0]*distance - w
	default:
		a.x = p.x - w/2
	}
	return a
}

// outside returns how far an area sticks out.
func outside(a area, b box) float64 {
	return max(0, b.left-a.x) + max(0, a.x+a.w-b.right) + max(0, b.top-a.y) + max(0, a.y+a.h-b.bottom)
}

// leader draws a thin line from a place to its label, where the label lies so
// far off that it could be another's.
func (s *svg) leader(p labelled, a area) {
	x := min(max(p.x, a.x), a.x+a.w)
	y := min(max(p.y, a.y), a.y+a.h)
	if math.Hypot(x-p.x, y-p.y) > 14 {
		s.line("leader", p.x, p.y, x, y)
	}
}

// label writes a label into its area, from the side on which its place lies:
// how wide it is was only guessed.
func (s *svg) label(p labelled, a area) {
	anchor, x := "start", a.x
	switch {
	case a.x+a.w <= p.x:
		anchor, x = "end", a.x+a.w
	case a.x < p.x:
		anchor, x = "middle", a.x+a.w/2
	}
	s.text("name", anchor, x, a.y+lineHeight-4, p.text)
}

// spread moves heights apart until each has room, as little as it can and in
// the order they have, between top and bottom.
func spread(heights []float64, room, top, bottom float64) []float64 {
	out := make([]float64, len(heights))
	order := ascending(heights)
	for n, i := range order {
		out[i] = max(heights[i], top)
		if n > 0 {
			out[i] = max(out[i], out[order[n-1]]+room)
		}
	}
	// What was pushed below the bottom pushes back.
	limit := bottom
	for n := len(order) - 1; n >= 0; n-- {
		i := order[n]
		out[i] = min(out[i], limit)
		limit = out[i] - room
	}
	return out
}
