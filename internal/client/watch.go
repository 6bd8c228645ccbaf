package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// errAbandoned ends an attempt at a replica that shows no sign of life.
var errAbandoned = errors.New("the replica gives no sign of life")

// maxMissedPulses in a row make a replica dead: one may be lost while it gets no processor time.
const maxMissedPulses = 2

// longWait is how many times the patience a call waits for a replica that is not backing off; when
// all were slow for a moment, a good one may back off for long.
const longWait = 2

// The hedge budget: how many calls may move to another replica. It allows a burst, such as all
// calls that were in flight at a replica that hangs, and then one for each ten that are answered.
// If all replicas are slow, moved calls add a tenth to the load at most.
const (
	hedgeBurst = 100
	hedgeRatio = .1
)

// hedgeBudget bounds how often calls move.
type hedgeBudget struct {
	mu   sync.Mutex
	left float64
}

func newHedgeBudget() *hedgeBudget { return &hedgeBudget{left: hedgeBurst} }

// take takes one from the budget and reports whether there was one left.
func (b *hedgeBudget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// earn counts a call that was answered.
func (b *hedgeBudget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+hedgeRatio, hedgeBurst)
}

// watch watches an attempt and calls abandon if the call should move to another replica. The end of
// ctx ends it, as does stop.
//
// A replica that shows no sign of life within the patience is abandoned: it hangs or cannot be
// reached. One that has responded is working, which may take long: its health is checked from time
// to time, and it is abandoned if it no longer answers. If there is no other replica, the call
// waits.
func (c caller) watch(ctx context.Context, cc *grpc.ClientConn, a *attempts,
	abandon context.CancelCauseFunc) (stop func() bool) {
	if c.patience <= 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(c.patience, func() {
		tick := time.NewTicker(c.patience)
		defer tick.Stop()
		began, missed := time.Now(), 0
		for ctx.Err() == nil {
			r, responded := a.current()
			switch {
			case r == nil: // none is connected
			case responded && pulse(ctx, cc, r):
				missed = 0
			case responded:
				missed++
			default:
				missed = maxMissedPulses
			}
			if missed >= maxMissedPulses && ctx.Err() == nil && a.abandon(time.Since(began) > longWait*c.patience) {
				c.log.WarnContext(ctx, logCallMoved, "replica", r.addr, "answered_at_all", responded)
				abandon(errAbandoned)
				return
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}).Stop
}

// pulse reports whether a replica answers at all within half of the patience.
func pulse(ctx context.Context, cc *grpc.ClientConn, r *replica) bool {
	_, err := grpc_health_v1.NewHealthClient(cc).Check(pin(ctx, r), &grpc_health_v1.HealthCheckRequest{})
	code := status.Code(err)
	return code != codes.DeadlineExceeded && code != codes.Unavailable
}

type pinKey struct{}

// pin sends the calls of a context to one replica, without hedging or retries.
func pin(ctx context.Context, r *replica) context.Context {
	return context.WithValue(ctx, pinKey{}, r)
}

func pinned(ctx context.Context) *replica {
	r, _ := ctx.Value(pinKey{}).(*replica)
	return r
}
