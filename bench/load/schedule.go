package load

import (
	"math/rand/v2"
	"time"
)

// schedule is when questions come, from the start of a step on.
type schedule struct {
	rate   float64    // per second
	random *rand.Rand // nil lets them come at even intervals
	came   int
	at     float64 // seconds, at random intervals
}

// next returns when the next question comes. Between those of a Poisson process lie
// exponentially distributed times.
func (s *schedule) next() time.Duration {
	s.came++
	at := float64(s.came) / s.rate
	if s.random != nil {
		s.at += s.random.ExpFloat64() / s.rate
		at = s.at
	}
	return time.Duration(at * float64(time.Second))
}
