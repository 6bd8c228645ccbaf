// Package load asks at a fixed rate, or as fast as some askers can, and counts
// what came of it.
package load

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Outcome is what came of one question.
type Outcome struct {
	// Kind is "ok", the gRPC code of a failure, or a word for an answer that is
	// not what it should be.
	Kind string
	// Example is a failure in words.
	Example string
	// Snapshot of the knowledge graph that was read; 0 for none.
	Snapshot uint64
}

// OK is the Kind of a right answer.
const OK = "ok"

// Ask asks the nth question.
type Ask func(ctx context.Context, n int) Outcome

// Report is what came of a load. Times are in milliseconds.
type Report struct {
	Asked     int               `json:"asked"`
	Failed    int               `json:"failed"`
	Kinds     map[string]int    `json:"kinds"`
	Examples  map[string]string `json:"examples,omitempty"`
	Snapshots map[uint64]int    `json:"snapshots,omitempty"`
	// Attempts and FailedAttempts are those that RPCs took, which gRPC's own
	// retries hide: a caller without retries would have seen these failures.
	Attempts       int64   `json:"attempts"`
	FailedAttempts int64   `json:"failed_attempts"`
	Seconds        float64 `json:"seconds"`
	PerSecond      float64 `json:"per_second"`
	P50            float64 `json:"p50_ms"`
	P95            float64 `json:"p95_ms"`
	P99            float64 `json:"p99_ms"`
	Max            float64 `json:"max_ms"`
}

// AtRate asks count questions, rate a second. Each question begins when it is
// due, however many are under way, and its time counts from then: a server that
// stalls is charged for all that would have been asked meanwhile.
func AtRate(ctx context.Context, rate float64, count int, ask Ask) Report {
	return run(func(done func(time.Time, Outcome)) {
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

// AsFastAs lets some askers ask one question after the other for a time. What
// is under way at its end is not counted.
func AsFastAs(ctx context.Context, askers int, during time.Duration, ask Ask) Report {
	// Cancelled, and no deadline: clients give up some time before one.
	ctx, cancel := context.WithCancel(ctx)
	defer time.AfterFunc(during, cancel).Stop()
	defer cancel()
	return run(func(done func(time.Time, Outcome)) {
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

// run gathers what all tells it of questions that are done.
func run(all func(done func(since time.Time, got Outcome))) Report {
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

// quantile is the least value that a share q of all do not exceed.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, min(len(sorted)-1, int(q*float64(len(sorted))+.999999)-1))]
}
