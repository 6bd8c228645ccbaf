package cli

import (
	"time"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// loadProgress shows how far a load has come and how long it may take.
type loadProgress struct {
	name  string
	line  *statusLine
	phase retrieverv1.LoadPhase
	began time.Time
	first uint64 // what was done when the phase was first heard of
	now   func() time.Time
}

func newLoadProgress(name string, line *statusLine) *loadProgress {
	return &loadProgress{name: name, line: line, now: time.Now}
}

var phases = map[retrieverv1.LoadPhase]string{
	retrieverv1.LoadPhase_LOAD_PHASE_READ:   "reading",
	retrieverv1.LoadPhase_LOAD_PHASE_SORT:   "putting in order",
	retrieverv1.LoadPhase_LOAD_PHASE_ENCODE: "encoding",
	retrieverv1.LoadPhase_LOAD_PHASE_WRITE:  "writing",
}

func (l *loadProgress) show(p *retrieverv1.LoadProgress) {
	if p.GetPhase() != l.phase {
		l.phase, l.began, l.first = p.GetPhase(), l.now(), p.GetDone()
	}
	what, known := phases[l.phase]
	if !known {
		return
	}
	took := l.now().Sub(l.began)
	switch left := l.left(p, took); {
	case p.GetTotal() == 0:
		l.line.set("%s: %s, %d so far", l.name, what, p.GetDone())
	case left == 0:
		l.line.set("%s: %s, %d of %d", l.name, what, p.GetDone(), p.GetTotal())
	default:
		l.line.set("%s: %s, %d of %d, %s left", l.name, what, p.GetDone(), p.GetTotal(), left)
	}
}

// left is how long the phase will go on at its pace so far; 0 where that is not
// known yet.
func (l *loadProgress) left(p *retrieverv1.LoadProgress, took time.Duration) time.Duration {
	done := p.GetDone() - min(l.first, p.GetDone())
	if done == 0 || p.GetTotal() <= p.GetDone() || took < time.Second {
		return 0
	}
	left := time.Duration(float64(took) / float64(done) * float64(p.GetTotal()-p.GetDone()))
	return max(left.Round(time.Second), time.Second)
}
