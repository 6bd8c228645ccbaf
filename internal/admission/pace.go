package admission

import "time"

// memory is the weight of the newest interval in the pace.
const memory = 0.1

// pace is how fast places come free while requests wait for them. When none
// wait, requests end as slowly as they come, which says nothing.
type pace struct {
	every time.Duration // between two places; 0 where it is not known
	last  time.Time     // when one came free with others waiting; zero else
}

// done tells that a request ended, and whether others waited for its place.
func (p *pace) done(waited bool) {
	now := time.Now()
	if !p.last.IsZero() {
		took := now.Sub(p.last)
		if p.every == 0 {
			p.every = took
		}
		p.every += time.Duration(memory * float64(took-p.every))
	}
	p.last = time.Time{}
	if waited {
		p.last = now
	}
}

// until is when n more places will have come free; 0 where nothing is known.
func (p *pace) until(n int) time.Duration { return time.Duration(n) * p.every }
