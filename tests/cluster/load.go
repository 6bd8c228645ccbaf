package cluster

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Outcome is the result of one question.
type Outcome struct {
	// Kind is "ok", the gRPC code of a failure, or a word for a wrong answer.
	Kind string
	// Example describes a failure.
	Example string
	// Snapshot of the knowledge graph that was read; 0 for none.
	Snapshot uint64
}

// OK is the Kind of a correct answer.
const OK = "ok"

// Ask asks the nth question.
type Ask func(ctx context.Context, n int) Outcome

// Report summarizes a load. Times are in milliseconds.
type Report struct {
	Asked     int               `json:"asked"`
	Failed    int               `json:"failed"`
	Kinds     map[string]int    `json:"kinds"`
	Examples  map[string]string `json:"examples,omitempty"`
	Snapshots map[uint64]int    `json:"snapshots,omitempty"`
	// Attempts and FailedAttempts include those hidden by gRPC's retries: a caller without retries
	// would have seen these failures.
	Attempts       int64   `json:"attempts"`
	FailedAttempts int64   `json:"failed_attempts"`
	Seconds        float64 `json:"seconds"`
	PerSecond      float64 `json:"per_second"`
	P50            float64 `json:"p50_ms"`
	P95            float64 `json:"p95_ms"`
	P99            float64 `json:"p99_ms"`
	Max            float64 `json:"max_ms"`
}

// AtRate asks count questions, rate a second. Each question starts when it is due, however many are
// in flight, and its latency counts from then, which avoids coordinated omission.
func AtRate(ctx context.Context, rate float64, count int, ask Ask) Report {
	return runAsks(func(done func(time.Time, Outcome)) {
		var group sync.WaitGroup
		begun := time.Now()
		for n := range count {
			due := begun.Add(time.Duration(float64(n) / rate * float64(time.Second)))
			if !sleepUntil(ctx, due) {
				break
			}
			group.Go(func() { done(due, ask(ctx, n)) })
		}
		group.Wait()
	})
}

// AsFastAs has a number of clients ask one question after the other for a time. Questions in flight
// at its end do not count.
func AsFastAs(ctx context.Context, askers int, during time.Duration, ask Ask) Report {
	// Cancelled instead of a deadline: clients give up some time before a deadline.
	ctx, cancel := context.WithCancel(ctx)
	defer time.AfterFunc(during, cancel).Stop()
	defer cancel()
	return runAsks(func(done func(time.Time, Outcome)) {
		var group sync.WaitGroup
		var next atomic.Int64
		for range askers {
			group.Go(func() {
				for ctx.Err() == nil {
					begun := time.Now()
					if got := ask(ctx, int(next.Add(1))); ctx.Err() == nil {
						done(begun, got)
					}
				}
			})
		}
		group.Wait()
	})
}

func sleepUntil(ctx context.Context, due time.Time) bool {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// runAsks collects the outcomes of questions.
func runAsks(all func(done func(since time.Time, got Outcome))) Report {
	r := Report{Kinds: map[string]int{}, Examples: map[string]string{}, Snapshots: map[uint64]int{}}
	var mu sync.Mutex
	var took []float64
	begun := time.Now()
	all(func(since time.Time, got Outcome) {
		ms := float64(time.Since(since).Microseconds()) / 1000
		mu.Lock()
		defer mu.Unlock()
		took = append(took, ms)
		r.count(got)
	})
	r.Seconds = time.Since(begun).Seconds()
	r.PerSecond = float64(r.Asked) / r.Seconds
	slices.Sort(took)
	r.P50, r.P95, r.P99, r.Max = quantile(took, .5), quantile(took, .95), quantile(took, .99), quantile(took, 1)
	return r
}

func (r *Report) count(got Outcome) {
	r.Asked++
	r.Kinds[got.Kind]++
	if got.Kind != OK {
		r.Failed++
		if _, ok := r.Examples[got.Kind]; !ok {
			r.Examples[got.Kind] = got.Example
		}
	}
	if got.Snapshot != 0 {
		r.Snapshots[got.Snapshot]++
	}
}

// quantile returns the least value that a share q of all do not exceed.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, min(len(sorted)-1, int(q*float64(len(sorted))+.999999)-1))]
}
