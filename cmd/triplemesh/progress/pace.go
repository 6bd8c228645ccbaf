package progress

import "time"

// pace is how fast work was done lately.
type pace struct{ marks []mark }

type mark struct {
	at   time.Time
	done int64
}

const (
	// window is how long the work of the past counts: long enough to smooth
	// bursts, short enough to follow when a cache has no more to give.
	window = 30 * time.Second
	// apart is the least time between two marks that are kept.
	apart = 250 * time.Millisecond
	// settled is how long work must have gone on before anything is said of its
	// pace: what was said sooner would be wrong.
	settled = 2 * time.Second
)

func (p *pace) begin(at time.Time, done int64) { p.marks = []mark{{at, done}} }

func (p *pace) mark(at time.Time, done int64) {
	last := len(p.marks) - 1
	if last > 0 && at.Sub(p.marks[last-1].at) < apart {
		p.marks[last] = mark{at, done}
		return
	}
	p.marks = append(p.marks, mark{at, done})
	// The mark before the window stays: with it, slow work has a pace too.
	for len(p.marks) > 2 && at.Sub(p.marks[1].at) > window {
		p.marks = p.marks[1:]
	}
}

// rate is how much is done in a second; 0 where that is not known. The time
// since the last mark counts, so that work that stands still gets slower.
func (p *pace) rate(now time.Time) float64 {
	if len(p.marks) < 2 {
		return 0
	}
	first, last := p.marks[0], p.marks[len(p.marks)-1]
	end := last.at
	if usual := last.at.Sub(first.at) / time.Duration(len(p.marks)-1); now.Sub(last.at) > 2*usual {
		end = now
	}
	took := end.Sub(first.at)
	if now.Sub(first.at) < settled || took <= 0 {
		return 0
	}
	return float64(last.done-first.done) / took.Seconds()
}
