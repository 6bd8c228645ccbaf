// Package admission decides which requests a server begins when more come than
// it can do: so many at once, as many again waiting for a short time, fairly
// between tenants, and the rest turned away before they cost anything.
package admission

import (
	"context"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// Config bounds what a Gate lets in.
type Config struct {
	// MaxInFlight is the most requests at once. The gate goes below it while
	// requests run out of time. 0 sets no bound at all.
	MaxInFlight int
	// MaxQueue is the most requests that wait for a place; 0 lets none wait.
	MaxQueue int
	// MaxWait is the longest that any of them waits.
	MaxWait time.Duration
}

// Gate lets requests in. Safe for concurrent use.
type Gate struct {
	cfg Config

	mu      sync.Mutex
	limit   limit
	pace    pace
	queue   queue
	running int
	// fullAt is when the last place was last taken.
	fullAt time.Time
}

const (
	// allOfIt is what share of its time a request has used that ran out of it.
	allOfIt = 0.95
	// steadyShare of MaxWait is how long a tenant's requests wait once one of them
	// always has for so long as MaxWait: a queue is for bursts. One that is always
	// there makes all who come later late, and is still there when the burst is over.
	// FQ-CoDel does the same to packets, by flows (RFC 8290).
	steadyShare = 1.0 / 20
	// steadyPlaces is how many places may come free in that time at least: where
	// they come slowly, some must wait all the same, so that none is empty.
	steadyPlaces = 3
)

// New makes a gate.
func New(cfg Config) *Gate {
	return &Gate{cfg: cfg, limit: newLimit(cfg.MaxInFlight), queue: newQueue()}
}

// Enter waits for a place for a request of the context's tenant. The error is a
// *Refused where there is none for it, or the context's own. Otherwise the
// request must leave, saying whether it ended because its time ran out.
func (g *Gate) Enter(ctx context.Context) (leave func(late bool), err error) {
	if g.cfg.MaxInFlight == 0 {
		return func(bool) {}, nil
	}
	id, _ := tenant.From(ctx) // those of no tenant share the zero tenant's place
	w, refused := g.knock(id, patience(ctx, g.cfg.MaxWait))
	if refused != nil {
		return nil, refused
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
	return func(late bool) { g.leave(id, done{kind: kindOf(ctx), took: time.Since(began), had: had, late: late}) }, nil
}

// patience is how long a request can wait and still have half of its time to be
// done in.
func patience(ctx context.Context, longest time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(longest, time.Until(deadline)/2)
	}
	return longest
}

// knock takes a place, or one in the queue, or says why there is neither.
func (g *Gate) knock(id tenant.ID, patience time.Duration) (*waiter, *Refused) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running < g.limit.now() && g.queue.len() == 0 {
		g.begin(id)
		return nil, nil
	}
	if patience <= 0 || g.cfg.MaxQueue == 0 {
		return nil, g.refused(Full)
	}
	// Whoever has less than an equal share comes next, whatever the queue: it is
	// others who fill it, and guesses by its pace are about them.
	if !g.queue.withinShare(id, g.limit.now()) {
		patience = min(patience, g.mostPatience(id))
		if ahead := g.pace.until(g.queue.ahead(id)); ahead > patience {
			return nil, g.refused(TooLate)
		}
	}
	if g.queue.len() >= g.cfg.MaxQueue {
		// Whoever has most in the queue gives way to who has less.
		displaced := g.queue.displace(id)
		if displaced == nil {
			return nil, g.refused(Full)
		}
		displaced.turn <- g.refused(Displaced)
	}
	return g.queue.add(id, patience, g.steadyPatience()), nil
}

// mostPatience is how long a request of a tenant may wait, as long as others of
// it have waited before. g.mu is held.
func (g *Gate) mostPatience(id tenant.ID) time.Duration {
	steady := g.steadyPatience()
	if g.queue.waitsFor(id, steady) < g.cfg.MaxWait {
		return g.cfg.MaxWait
	}
	return steady
}

// steadyPatience is how long requests wait in a line that is always there, and
// how long it must be gone to be a new one. g.mu is held.
func (g *Gate) steadyPatience() time.Duration {
	return max(time.Duration(steadyShare*float64(g.cfg.MaxWait)), g.pace.until(steadyPlaces))
}

// wait is the time in the queue.
func (g *Gate) wait(ctx context.Context, w *waiter) error {
	timer := time.NewTimer(w.patience)
	defer timer.Stop()
	var gone error
	select {
	case refused := <-w.turn:
		return refused.orNil()
	case <-ctx.Done():
		gone = ctx.Err()
	case <-timer.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.queue.remove(w) {
		// Its turn came in the same moment.
		refused := <-w.turn
		if refused != nil || gone == nil {
			return refused.orNil()
		}
		g.end(w.tenant)
	}
	if gone != nil {
		return gone
	}
	return g.refused(Waited)
}

// leave gives a place to the next.
func (g *Gate) leave(id tenant.ID, d done) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pace.done(g.queue.len() > 0)
	d.peak = g.running
	if began := time.Now().Add(-d.took); !began.After(g.fullAt) {
		d.peak = max(d.peak, g.limit.now())
	}
	// Whatever came of it: a question whose stage runs out of time is answered in
	// the little that is kept back for that.
	d.late = d.late || d.had > 0 && float64(d.took) > allOfIt*float64(d.had)
	g.limit.learn(d)
	g.end(id)
}

// begin and end count a request; end lets in who waits. g.mu is held.
func (g *Gate) begin(id tenant.ID) {
	g.running++
	if g.running >= g.limit.now() {
		g.fullAt = time.Now()
	}
	g.queue.begin(id)
}

func (g *Gate) end(id tenant.ID) {
	g.running--
	g.queue.end(id)
	for g.running < g.limit.now() {
		w := g.queue.next()
		if w == nil {
			return
		}
		g.begin(w.tenant)
		w.turn <- nil
	}
}

// refused says when to come again. g.mu is held.
func (g *Gate) refused(why Reason) *Refused {
	return &Refused{
		Reason: why, InFlight: g.running, Waiting: g.queue.len(),
		RetryAfter: min(max(g.pace.until(g.queue.len()+1), leastRetry), mostRetry),
	}
}

// State is how full a gate is.
type State struct {
	// Limit is the most requests at once just now.
	Limit int
	// InFlight is how many there are.
	InFlight int
	// Waiting is how many wait.
	Waiting int
}

// State tells how full the gate is.
func (g *Gate) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return State{Limit: g.limit.now(), InFlight: g.running, Waiting: g.queue.len()}
}
