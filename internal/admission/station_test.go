package admission_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// station is a server that its jobs share: it does parallel seconds of work in a second, one for a
// job at most.
type station struct {
	tick time.Duration
	// parallel returns how many jobs are served at full speed at a time.
	parallel func(time.Duration) float64
	// quota bounds the work in each period, as CFS throttles a container; 0 for no bound.
	quota, period time.Duration

	mu    sync.Mutex
	jobs  []*job
	began time.Time
	left  time.Duration // of the quota
}

type job struct {
	left time.Duration
	done chan struct{}
}

func always(parallel float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return parallel }
}

// serve works until ctx ends.
func (s *station) serve(ctx context.Context) {
	s.began = time.Now()
	ticker := time.NewTicker(s.tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.step()
		}
	}
}

func (s *station) step() {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Since(s.began)
	can := time.Duration(s.parallel(at) * float64(s.tick))
	if s.quota > 0 {
		if at%s.period < s.tick {
			s.left = s.quota
		}
		can = min(can, s.left)
	}
	if len(s.jobs) == 0 {
		return
	}
	share := min(s.tick, can/time.Duration(len(s.jobs)))
	s.left -= share * time.Duration(len(s.jobs))
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		j.left -= share
		if j.left <= 0 {
			close(j.done)
		}
		return j.left <= 0
	})
}

// work does a job.
func (s *station) work(ctx context.Context, needs time.Duration) error {
	j := &job{left: needs, done: make(chan struct{})}
	s.mu.Lock()
	s.jobs = append(s.jobs, j)
	s.mu.Unlock()
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = slices.DeleteFunc(s.jobs, func(other *job) bool { return other == j })
	return ctx.Err()
}

func (s *station) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

// leastLoaded returns the station with fewer jobs of two chosen at random, as internal/client does.
func leastLoaded(all []*station, random *lockedRand) *station {
	one, other := all[random.intN(len(all))], all[random.intN(len(all))]
	if other.len() < one.len() {
		return other
	}
	return one
}

// lockedRand is a source of randomness for several goroutines.
type lockedRand struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (l *lockedRand) intN(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.IntN(n)
}

// around returns a duration that varies about its mean: half of it is fixed, half exponential.
func (l *lockedRand) around(mean time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return mean/2 + time.Duration(l.r.ExpFloat64()*float64(mean)/2)
}
