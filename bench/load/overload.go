package load

import (
	"context"
	"fmt"
	"time"
)

// Plan says how a mesh is overloaded: its capacity is found, then it is asked
// calmly, at its capacity, at some times of it, and calmly again.
type Plan struct {
	// From is the first rate that is tried, Find how long each is.
	From float64
	Find time.Duration
	// Times are the rates as times of the capacity; Hold is how long each lasts.
	Times []float64
	Hold  time.Duration
}

// Names of the steps that stand around the overload.
const (
	before = "before"
	after  = "after"
)

const (
	// calm is what of the capacity is asked before and after.
	calm = 0.5
	// enough of what is asked is answered wholly until capacity is reached.
	enough = 0.9
	// mostDoublings of the first rate are tried.
	mostDoublings = 12
	// slower is how many times as long as before a second's 99th percentile may be
	// where all is well again; of a second's questions it is nearly the longest.
	slower = 1.5
	// inARow is how many seconds must be well.
	inARow = 3
)

// Overloaded is what an overload came to.
type Overloaded struct {
	// Capacity is the most whole answers per second of all rates that were tried.
	Capacity float64 `json:"capacity"`
	// Kept are the steps of overload, each with its share of the goodput at
	// capacity.
	Kept []GoodputShare `json:"kept"`
	// Recovery is how many seconds after the end of the burst the mesh was as
	// before it: 9 in 10 questions of a second whole and its 99th percentile at
	// most half as long again, three seconds in a row. Below 0 if it was not as
	// long as was looked.
	Recovery float64 `json:"recovery_s"`
}

// GoodputShare is what is left of the goodput.
type GoodputShare struct {
	Times float64 `json:"times"`
	Share float64 `json:"share"`
}

// Overload finds the capacity and overloads the mesh. When ctx ends it returns
// what there is so far with the context's error.
func Overload(ctx context.Context, o Options, p Plan) (*Report, error) {
	capacity, found, err := capacity(ctx, o, p)
	if err != nil {
		return found, err
	}
	steps := []Step{{before, calm * capacity, p.Hold}, {"1x", capacity, p.Hold}}
	for _, times := range p.Times {
		steps = append(steps, Step{fmt.Sprintf("%gx", times), times * capacity, p.Hold})
	}
	steps = append(steps, Step{after, calm * capacity, p.Hold})
	report, err := Run(ctx, o, steps)
	if report != nil && len(report.Steps) == len(steps) {
		report.Overload = overloaded(report, p, capacity)
	}
	return report, err
}

// capacity doubles the rate until not enough is answered.
func capacity(ctx context.Context, o Options, p Plan) (most float64, last *Report, err error) {
	rate := p.From
	for range mostDoublings {
		report, err := Run(ctx, o, []Step{{"find", rate, p.Find}})
		if err != nil {
			return 0, report, err
		}
		s := report.Steps[0]
		// What comes in the first half was asked for while nobody waited yet.
		most = max(most, cameBetween(report.Seconds, p.Find/2, p.Find/2))
		if float64(s.Whole) < enough*float64(s.Sent+s.Unsent) {
			if most == 0 {
				return 0, report, fmt.Errorf("of %d questions none was answered wholly in %v: look at one with "+
					"`triplemesh ask`", s.Sent, o.Timeout)
			}
			return most, report, nil
		}
		rate *= 2
	}
	return 0, nil, fmt.Errorf("all was answered at %g questions per second: begin with a higher --rate", rate/2)
}

// overloaded compares the steps.
func overloaded(r *Report, p Plan, capacity float64) *Overloaded {
	o := &Overloaded{Capacity: capacity}
	atCapacity := r.Steps[1].Goodput
	for i, times := range p.Times {
		share := 0.0
		if atCapacity > 0 {
			share = r.Steps[2+i].Goodput / atCapacity
		}
		o.Kept = append(o.Kept, GoodputShare{Times: times, Share: share})
	}
	last := r.Steps[len(r.Steps)-1]
	o.Recovery = recovery(r.Seconds, last.At, last.At+last.Length, slower*r.Steps[0].Latency.P99)
	return o
}

// recovery returns how long after the end of a burst all is well.
func recovery(seconds []Second, burstEnd, end, p99 float64) float64 {
	well := 0
	for _, s := range seconds {
		if float64(s.At) < burstEnd || float64(s.At+1) > end {
			continue
		}
		if s.Sent == 0 || float64(s.Whole) >= enough*float64(s.Sent) && s.P99 <= p99 {
			well++
		} else {
			well = 0
		}
		if well == inARow {
			return max(float64(s.At+1-inARow)-burstEnd, 0)
		}
	}
	return -1
}
