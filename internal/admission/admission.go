// Package admission is a server's admission control: an adaptive concurrency limit, a short queue
// that is fair between tenants, and load shedding for the rest.
package admission

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// Config bounds what a Gate admits.
type Config struct {
	// MaxInFlight is the upper bound of the concurrency limit, which is lower while requests miss
	// their deadlines. It is the only bound of calls that belong to admitted requests. 0 disables the
	// gate.
	MaxInFlight int
	// MaxQueue is the capacity of the queue; 0 disables queueing.
	MaxQueue int
	// MaxWait bounds the time in the queue.
	MaxWait time.Duration
}

// Gate admits requests. It is safe for concurrent use.
type Gate struct {
	cfg Config

	mu    sync.Mutex
	limit limit
	pace  pace
	queue queue
	// admitted are the waiting calls that belong to admitted requests, in order of arrival.
	admitted []*waiter
	running  int
	// fullAt is when the limit was last reached.
	fullAt time.Time
}

const (
	// lateTimeShare is the share of its time from which a request counts as late.
	lateTimeShare = 0.95
	// steadyShare of MaxWait bounds the wait of a tenant's requests once the tenant has had a
	// standing queue for burstWaits of MaxWait: a queue absorbs bursts; a standing one only adds latency.
	// FQ-CoDel treats packets of a flow the same way (RFC 8290).
	steadyShare = 1.0 / 20
	// steadyPlaces is a lower bound of that wait in freed places: if they are freed slowly, some
	// requests must still wait, so that no place stays empty.
	steadyPlaces = 3
	// burstWaits is how many times MaxWait a queue may stand as that of a burst.
	burstWaits = 3
)

// New returns a gate.
func New(cfg Config) *Gate {
	return &Gate{cfg: cfg, limit: newLimit(cfg.MaxInFlight), queue: newQueue()}
}

// Enter waits for a place for a request of the context's tenant. The error is a *Refusal or the
// context's own. Otherwise the caller must call leave and report whether the request timed out.
//
// A call that belongs to an admitted request (WithAdmitted) is never refused: a refusal would throw
// away what was done for the request, and those that admitted it bound how many there are. It takes
// any place of MaxInFlight before all others, or waits for one as long as the context lasts.
func (g *Gate) Enter(ctx context.Context) (leave func(late bool), err error) {
	if g.cfg.MaxInFlight == 0 {
		return func(bool) {}, nil
	}
	id, _ := auth.TenantFrom(ctx) // requests without a tenant share the zero tenant
	var w *waiter
	if IsAdmitted(ctx) {
		w = g.enterAdmitted(id)
	} else {
		var refused *Refusal
		if w, refused = g.tryEnter(id, patience(ctx, g.cfg.MaxWait)); refused != nil {
			return nil, refused
		}
	}
	if w != nil {
		if err := g.wait(ctx, w); err != nil {
			return nil, err
		}
	}
	began, had := time.Now(), time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok {
		had = time.Until(deadline)
	}
	return func(late bool) {
		g.leave(id, outcome{kind: kindFrom(ctx), took: time.Since(began), budget: had, late: late})
	}, nil
}

// patience is how long a request can wait and still have half of its time left.
func patience(ctx context.Context, longest time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(longest, time.Until(deadline)/2)
	}
	return longest
}

// enterAdmitted takes a place, or a position among the calls of admitted requests.
func (g *Gate) enterAdmitted(id auth.Tenant) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running < g.cfg.MaxInFlight {
		g.begin(id)
		return nil
	}
	w := &waiter{tenant: id, patience: math.MaxInt64, result: make(chan *Refusal, 1)}
	g.admitted = append(g.admitted, w)
	return w
}

// tryEnter takes a place, or a position in the queue, or returns the refusal.
func (g *Gate) tryEnter(id auth.Tenant, patience time.Duration) (*waiter, *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.probe()
	if g.running < g.limit.value() && g.queue.len() == 0 {
		g.begin(id)
		return nil, nil
	}
	if patience <= 0 || g.cfg.MaxQueue == 0 {
		return nil, g.refuse(Full)
	}
	// A tenant below its fair share is served next: other tenants fill the queue, and estimates by
	// its pace concern them.
	if !g.queue.withinShare(id, g.limit.value()) {
		patience = min(patience, g.maxPatience(id))
		if ahead := g.pace.estimate(g.queue.ahead(id)); ahead > patience {
			return nil, g.refuse(TooLate)
		}
	}
	if g.queue.len() >= g.cfg.MaxQueue {
		// The tenant with the longest queue yields to one with a shorter queue.
		displaced := g.queue.displace(id)
		if displaced == nil {
			return nil, g.refuse(Full)
		}
		displaced.result <- g.refuse(Displaced)
	}
	return g.queue.add(id, patience, g.steadyPatience()), nil
}

// maxPatience bounds the wait of a tenant's request by how long the tenant has had a queue. g.mu is
// held.
func (g *Gate) maxPatience(id auth.Tenant) time.Duration {
	steady := g.steadyPatience()
	if g.queue.waitsFor(id, steady) < burstWaits*g.cfg.MaxWait {
		return g.cfg.MaxWait
	}
	return steady
}

// steadyPatience is the longest wait in a standing queue, and the gap after which a queue counts as
// new. g.mu is held.
func (g *Gate) steadyPatience() time.Duration {
	return max(time.Duration(steadyShare*float64(g.cfg.MaxWait)), g.pace.estimate(steadyPlaces))
}

// wait waits in the queue.
func (g *Gate) wait(ctx context.Context, w *waiter) error {
	timer := time.NewTimer(w.patience)
	defer timer.Stop()
	var gone error
	select {
	case refused := <-w.result:
		return refused.err()
	case <-ctx.Done():
		gone = ctx.Err()
	case <-timer.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.probe()
	if !g.remove(w) {
		// The result was sent at the same moment.
		refused := <-w.result
		if refused != nil || gone == nil {
			return refused.err()
		}
		g.end(w.tenant)
	}
	if gone != nil {
		return gone
	}
	return g.refuse(Waited)
}

// remove removes a waiting request; false if it waits no more. g.mu is held.
func (g *Gate) remove(w *waiter) bool {
	if i := slices.Index(g.admitted, w); i >= 0 {
		g.admitted = slices.Delete(g.admitted, i, i+1)
		return true
	}
	return g.queue.remove(w)
}

// probe raises the limit if it has been reached for MaxWait and no request has ended yet: requests
// that take minutes would keep it where it began for as long. g.mu is held.
func (g *Gate) probe() {
	if g.running >= g.limit.value() && time.Since(g.fullAt) >= g.cfg.MaxWait && g.limit.probe() {
		g.fill()
	}
}

// leave frees a place.
func (g *Gate) leave(id auth.Tenant, d outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pace.recordEnd(g.queue.len() > 0)
	d.peak = g.running
	if began := time.Now().Add(-d.took); !began.After(g.fullAt) {
		d.peak = max(d.peak, g.limit.value())
	}
	// Success does not count here: a question whose stage times out is still answered in the
	// reserved rest of its time.
	d.late = d.late || d.budget > 0 && float64(d.took) > lateTimeShare*float64(d.budget)
	g.limit.learn(d)
	g.end(id)
}

// begin and end count a request; end gives its place to the next. g.mu is held.
func (g *Gate) begin(id auth.Tenant) {
	g.running++
	if g.running >= g.limit.value() {
		g.fullAt = time.Now()
	}
	g.queue.begin(id)
}

func (g *Gate) end(id auth.Tenant) {
	g.running--
	g.queue.end(id)
	g.fill()
}

// fill gives free places to waiting requests. g.mu is held.
func (g *Gate) fill() {
	for len(g.admitted) > 0 && g.running < g.cfg.MaxInFlight {
		w := g.admitted[0]
		g.admitted = slices.Delete(g.admitted, 0, 1)
		g.begin(w.tenant)
		w.result <- nil
	}
	for g.running < g.limit.value() {
		w := g.queue.next()
		if w == nil {
			return
		}
		g.begin(w.tenant)
		w.result <- nil
	}
}

// refuse returns a refusal with the time to retry after. g.mu is held.
func (g *Gate) refuse(why Reason) *Refusal {
	return &Refusal{
		Reason: why, InFlight: g.running, Waiting: g.queue.len(),
		RetryAfter: min(max(g.pace.estimate(g.queue.len()+1), minRetry), maxRetry),
	}
}

// State is a snapshot of a gate.
type State struct {
	// Limit is the current concurrency limit.
	Limit int
	// InFlight counts the admitted requests.
	InFlight int
	// Waiting counts the queued requests.
	Waiting int
}

// State returns the current state.
func (g *Gate) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return State{Limit: g.limit.value(), InFlight: g.running, Waiting: g.queue.len() + len(g.admitted)}
}

// Reason is why a request was refused.
type Reason string

const (
	// Full means that the queue is full.
	Full Reason = "full"
	// TooLate means that the estimated wait exceeds half of the request's time.
	TooLate Reason = "too late"
	// Waited means that the request timed out in the queue.
	Waited Reason = "waited"
	// Displaced means that a tenant with fewer queued requests took the position.
	Displaced Reason = "displaced"
)

// Bounds of RetryAfter, which is an estimate.
const (
	minRetry = time.Second
	maxRetry = time.Minute
)

// Refusal is the error of a request that was not admitted.
type Refusal struct {
	Reason Reason
	// InFlight and Waiting count the other requests.
	InFlight, Waiting int
	// RetryAfter is the estimated time until a place is free.
	RetryAfter time.Duration
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%d requests are under way and %d wait (%s); try again in %s",
		r.InFlight, r.Waiting, r.Reason, r.RetryAfter.Round(time.Second))
}

// err returns r as an error that is nil if r is nil.
func (r *Refusal) err() error {
	if r == nil {
		return nil
	}
	return r
}

// AdmittedKey is the metadata of calls that belong to an admitted request.
const AdmittedKey = "triplemesh-admitted"

type admittedKey struct{}

// WithAdmitted returns the context of a request that a gate of the mesh has admitted.
func WithAdmitted(ctx context.Context) context.Context {
	return context.WithValue(ctx, admittedKey{}, true)
}

// IsAdmitted reports whether a context belongs to a request that a gate of the mesh has admitted.
func IsAdmitted(ctx context.Context) bool { return ctx.Value(admittedKey{}) != nil }

type kindKey struct{}

// WithKind prepares a context for SetKind.
func WithKind(ctx context.Context) context.Context {
	return context.WithValue(ctx, kindKey{}, new(string))
}

// SetKind sets the kind of a context's request: requests of a kind take similar time without load.
// The number of kinds must be small; a kind must not come from the caller. Without WithKind it does
// nothing. It must be called from the request's own goroutine.
//
// Latency above the kind's baseline counts as overload. Requests without a kind, such as calls
// between stages, are judged by their deadlines alone: refusing them wastes work already begun.
func SetKind(ctx context.Context, kind string) {
	if k, ok := ctx.Value(kindKey{}).(*string); ok {
		*k = kind
	}
}

func kindFrom(ctx context.Context) string {
	if k, ok := ctx.Value(kindKey{}).(*string); ok {
		return *k
	}
	return ""
}
