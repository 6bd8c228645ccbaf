package admission_test

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"

	"github.com/triplemesh/triplemesh/internal/admission"
)

// The bounds that every limiter has, those of server.DefaultConfig.
const (
	maxInFlight, maxQueue = 256, 256
	maxWait               = 10 * time.Second
)

var errRefused = errors.New("refused")

// limiter admits a request or returns an error. leave reports whether the request missed its
// deadline.
type limiter interface {
	enter(ctx context.Context) (leave func(late bool), err error)
}

// limiters are compared with each other.
var limiters = []struct {
	name string
	make func() limiter
}{
	{"triplemesh", func() limiter {
		return gate{admission.New(admission.Config{MaxInFlight: maxInFlight, MaxQueue: maxQueue, MaxWait: maxWait})}
	}},
	{"failsafe-go", func() limiter {
		return failsafeLimiter{adaptivelimiter.NewBuilder[any]().WithLimits(1, maxInFlight, 16).WithQueueing(2, 3).
			WithMaxWaitTime(maxWait).Build()}
	}},
	{"fixed, 16", func() limiter { return newFixed(16) }},
	{"fixed, 64", func() limiter { return newFixed(64) }},
	{"fixed, 256", func() limiter { return newFixed(256) }},
}

// gate is the limiter of this project.
type gate struct{ *admission.Gate }

func (g gate) enter(ctx context.Context) (func(bool), error) {
	ctx = admission.WithKind(ctx)
	leave, err := g.Enter(ctx)
	if err == nil {
		admission.SetKind(ctx, "pg-akv")
	}
	return leave, err
}

// failsafeLimiter is the adaptive limiter of failsafe-go with its queue.
type failsafeLimiter struct {
	adaptivelimiter.AdaptiveLimiter[any]
}

func (l failsafeLimiter) enter(ctx context.Context) (func(bool), error) {
	permit, err := l.AcquirePermitWithMaxWait(ctx, patience(ctx))
	if err != nil {
		return nil, err
	}
	return func(bool) { permit.Record() }, nil
}

// fixed admits a fixed number of requests at once, and queues others in order.
type fixed struct{ places, queue chan struct{} }

func newFixed(n int) fixed {
	return fixed{places: make(chan struct{}, n), queue: make(chan struct{}, maxQueue)}
}

func (l fixed) enter(ctx context.Context) (func(bool), error) {
	leave := func(bool) { <-l.places }
	select {
	case l.places <- struct{}{}:
		return leave, nil
	default:
	}
	select {
	case l.queue <- struct{}{}:
	default:
		return nil, errRefused
	}
	defer func() { <-l.queue }()
	timer := time.NewTimer(patience(ctx))
	defer timer.Stop()
	select {
	case l.places <- struct{}{}:
		return leave, nil
	case <-timer.C:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// patience is how long a request waits for a place: half of its time at most.
func patience(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return min(maxWait, time.Until(deadline)/2)
}
