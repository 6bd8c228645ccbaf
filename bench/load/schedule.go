package load

import (
	"math/rand/v2"
	"time"
)

// schedule is when questions come, from the start of a step on.
type schedule struct {
	rate   float64    // per second
	random *rand.Rand // nil lets them come at even intervals
	at     float64    // seconds
}

// next is when the next question comes. Between those of a Poisson process lie
// exponentially distributed times.
func (s *schedule) next() time.Duration {
	gap := 1.0
	if s.random != nil {
		gap = s.random.ExpFloat64()
	}
	s.at += gap / s.rate
	return time.Duration(s.at * float64(time.Second))
}
