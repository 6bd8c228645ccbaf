package plot

import (
	"math"
	"strconv"
)

// Axis is one axis of a plot.
type Axis struct {
	// Label says what is measured, in what unit.
	Label string
	// Log puts equal factors at equal distances. Values of 0 or less then have
	// no place.
	Log bool
	// Percent writes shares as per cent, from 0 to 1 whatever the data are.
	Percent bool
}

// scale is an axis laid over pixels.
type scale struct {
	axis     Axis
	from, to float64 // of the data
	a, b     float64 // of the plot
	ticks    []float64
}

// newScale lays an axis that holds all values over the pixels a to b.
func newScale(axis Axis, values []float64, a, b float64) scale {
	s := scale{axis: axis, a: a, b: b}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || axis.Log && v <= 0 {
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	switch {
	case axis.Percent:
		s.from, s.to = 0, 1
		s.ticks = []float64{0, .2, .4, .6, .8, 1}
	case low > high:
		s.from, s.to = 0, 1
		s.ticks = []float64{0, 1}
	case axis.Log:
		s.from, s.to = low/1.6, high*1.6
		s.ticks = logTicks(s.from, s.to)
	default:
		s.from = min(0, low)
		s.to = high + (high-s.from)*0.12
		if s.to == s.from {
			s.to = s.from + 1
		}
		s.ticks = linearTicks(s.from, s.to)
	}
	if axis.Log && low <= high {
		s.from, s.to = math.Log10(s.from), math.Log10(s.to)
	}
	return s
}

// position is where a value stands.
func (s scale) position(v float64) float64 {
	if s.axis.Log {
		v = math.Log10(max(v, 1e-9))
	}
	share := (v - s.from) / (s.to - s.from)
	return s.a + min(max(share, 0), 1)*(s.b-s.a)
}

// format writes a value of the axis.
func (s scale) format(v float64) string {
	switch {
	case s.axis.Percent:
		return strconv.Itoa(int(math.Round(v*100))) + " %"
	case math.Abs(v) >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 3, 64) + " M"
	case math.Abs(v) >= 1e4 || s.axis.Log && math.Abs(v) >= 1e3:
		return strconv.FormatFloat(v/1e3, 'g', 3, 64) + " k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// linearTicks returns round values, some four to eight of them.
func linearTicks(from, to float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((to-from)/4)))
	for _, factor := range []float64{5, 2} {
		if (to-from)/(step*factor) >= 4 {
			step *= factor
			break
		}
	}
	var ticks []float64
	for i := math.Ceil(from / step); i*step <= to && len(ticks) < 20; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// logTicks returns powers of ten, with 2 and 5 between them if there is room.
func logTicks(from, to float64) []float64 {
	factors := []float64{1, 2, 5}
	switch {
	case to/from > 3000:
		factors = []float64{1}
	case to/from < 12:
		factors = []float64{1, 1.5, 2, 3, 4, 5, 7}
	}
	var ticks []float64
	for power := math.Floor(math.Log10(from)); power <= math.Ceil(math.Log10(to)); power++ {
		for _, f := range factors {
			if v := f * math.Pow(10, power); v >= from && v <= to {
				ticks = append(ticks, v)
			}
		}
	}
	return ticks
}

// axes draws the frame of a plot: the lines of the upright axis right across,
// the ticks of the other, and what both measure.
func (s *svg) axes(b box, x, y scale) {
	for _, v := range y.ticks {
		at := y.position(v)
		s.line("grid", b.left, at, b.right, at)
		s.text("tick", "end", b.left-8, at+4, y.format(v))
	}
	s.line("axis", b.left, b.bottom, b.right, b.bottom)
	for _, v := range x.ticks {
		at := x.position(v)
		s.line("axis", at, b.bottom, at, b.bottom+5)
		s.text("tick", "middle", at, b.bottom+20, x.format(v))
	}
	s.text("label", "middle", (b.left+b.right)/2, b.bottom+40, x.axis.Label)
	s.text("label", "start", 2, b.top-14, y.axis.Label)
}
