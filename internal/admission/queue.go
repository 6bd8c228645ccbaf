package admission

import (
	"cmp"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// waiter is a request in the queue.
type waiter struct {
	tenant   auth.Tenant
	patience time.Duration
	seq      uint64 // in which order, by the queue's count
	// result gets nil when its turn has come, or why it will not; it has room for one.
	result chan *Refusal
}

// line is one tenant's requests: running, and waiting in order of arrival.
type line struct {
	running int
	waiting []*waiter
	// served is the queue's starts when one of them last began.
	served uint64
	// waitsSince is since when one waits nearly all the time, and waited when one last did.
	waitsSince, lastWait time.Time
}

// queue holds the waiting requests. Next is the oldest request of the tenant with the fewest
// running, so that a tenant with a thousand requests gets as many places as one with ten. Ties go
// to the least recently served tenant.
type queue struct {
	lines map[auth.Tenant]*line
	size  int
	// starts and came count requests.
	starts, arrivals uint64
}

func newQueue() queue { return queue{lines: map[auth.Tenant]*line{}} }

func (q *queue) len() int { return q.size }

// withinShare reports whether a tenant has fewer requests, running and waiting, than its fair share
// of places. It is false for the only tenant.
func (q *queue) withinShare(id auth.Tenant, places int) bool {
	tenants, own := len(q.lines), 0
	if l := q.lines[id]; l != nil {
		own = l.running + len(l.waiting)
	} else {
		tenants++
	}
	return tenants > 1 && own < max(1, places/tenants)
}

// line returns the tenant's line, a new one if there is none.
func (q *queue) line(id auth.Tenant) *line {
	l := q.lines[id]
	if l == nil {
		l = &line{}
		q.lines[id] = l
	}
	return l
}

// dropEmpty forgets a tenant that has nothing.
func (q *queue) dropEmpty(id auth.Tenant) {
	if l := q.lines[id]; l != nil && l.running == 0 && len(l.waiting) == 0 {
		delete(q.lines, id)
	}
}

// begin and end count a tenant's requests under way.
func (q *queue) begin(id auth.Tenant) {
	l := q.line(id)
	q.starts++
	l.served = q.starts
	l.running++
}

func (q *queue) end(id auth.Tenant) {
	q.line(id).running--
	q.dropEmpty(id)
}

// waitsFor returns how long the tenant has had a queue without a gap longer than gap.
func (q *queue) waitsFor(id auth.Tenant, gap time.Duration) time.Duration {
	if l := q.lines[id]; l != nil && !l.isNew(gap) {
		return time.Since(l.waitsSince)
	}
	return 0
}

// isNew reports whether no request has waited for longer than gap.
func (l *line) isNew(gap time.Duration) bool {
	return len(l.waiting) == 0 && time.Since(l.lastWait) > gap
}

// add appends a request to the tenant's line.
func (q *queue) add(id auth.Tenant, patience, gap time.Duration) *waiter {
	q.arrivals++
	w := &waiter{tenant: id, patience: patience, seq: q.arrivals, result: make(chan *Refusal, 1)}
	l := q.line(id)
	now := time.Now()
	if l.isNew(gap) {
		l.waitsSince = now
	}
	l.lastWait = now
	l.waiting = append(l.waiting, w)
	q.size++
	return w
}

// remove removes a request; false if it had left the queue.
func (q *queue) remove(w *waiter) bool {
	l := q.lines[w.tenant]
	if l == nil {
		return false
	}
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	q.size--
	q.dropEmpty(w.tenant)
	return true
}

// next removes and returns the next request; nil if none waits.
func (q *queue) next() *waiter {
	var least *line
	for _, l := range q.lines {
		if len(l.waiting) > 0 && (least == nil || l.precedes(least)) {
			least = l
		}
	}
	if least == nil {
		return nil
	}
	w := least.waiting[0]
	least.lastWait = time.Now()
	least.waiting = slices.Delete(least.waiting, 0, 1)
	q.size--
	return w
}

// precedes reports whether l is served before other.
func (l *line) precedes(other *line) bool {
	return cmp.Or(cmp.Compare(l.running, other.running), cmp.Compare(l.served, other.served),
		cmp.Compare(l.waiting[0].seq, other.waiting[0].seq)) < 0
}

// ahead estimates how many requests are served before a further one of the tenant: its own line,
// and as many of each other tenant.
func (q *queue) ahead(id auth.Tenant) int {
	var own int
	if l := q.lines[id]; l != nil {
		own = len(l.waiting)
	}
	n := own + 1
	for other, l := range q.lines {
		if other != id {
			n += min(len(l.waiting), own+1)
		}
	}
	return n
}

// displace removes the newest request of the longest line in favor of a tenant that would still
// have fewer waiting; nil if there is no such line.
func (q *queue) displace(id auth.Tenant) *waiter {
	longest := q.line(id)
	own := len(longest.waiting)
	for _, l := range q.lines {
		if len(l.waiting) > max(len(longest.waiting), own+1) {
			longest = l
		}
	}
	defer q.dropEmpty(id)
	if len(longest.waiting) <= own+1 {
		return nil
	}
	last := len(longest.waiting) - 1
	w := longest.waiting[last]
	longest.waiting = slices.Delete(longest.waiting, last, last+1)
	q.size--
	return w
}
