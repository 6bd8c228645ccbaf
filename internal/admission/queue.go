package admission

import (
	"cmp"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// waiter is a request in the queue.
type waiter struct {
	tenant   tenant.ID
	patience time.Duration
	came     uint64 // in which order, by the queue's count
	// turn gets nil when its turn has come, or why it will not; it has room for
	// one.
	turn chan *Refused
}

// line is what one tenant has: requests under way, and waiting, in the order
// they came.
type line struct {
	running int
	waiting []*waiter
	// served is when one of them was last begun, by the queue's count.
	served uint64
	// waitsSince is since when one waits nearly all the time, and waited when one
	// last did.
	waitsSince, waited time.Time
}

// queue holds the requests that wait. The next is the oldest of the tenant with
// the fewest under way, so that a tenant who sends a thousand requests has as
// many places as one who sends ten at a time, and each of those waits for about
// one place. Among equals it is the tenant whose turn is longest ago.
type queue struct {
	lines map[tenant.ID]*line
	size  int
	// begun and came count requests.
	begun, came uint64
}

func newQueue() queue { return queue{lines: map[tenant.ID]*line{}} }

func (q *queue) len() int { return q.size }

// withinShare tells whether a tenant has less, under way and waiting, than its
// equal share of so many places. One that is alone has no share.
func (q *queue) withinShare(id tenant.ID, places int) bool {
	tenants, own := len(q.lines), 0
	if l := q.lines[id]; l != nil {
		own = l.running + len(l.waiting)
	} else {
		tenants++
	}
	return tenants > 1 && own < max(1, places/tenants)
}

// line is the tenant's, made where there is none.
func (q *queue) line(id tenant.ID) *line {
	l := q.lines[id]
	if l == nil {
		l = &line{}
		q.lines[id] = l
	}
	return l
}

// tidy forgets a tenant that has nothing.
func (q *queue) tidy(id tenant.ID) {
	if l := q.lines[id]; l != nil && l.running == 0 && len(l.waiting) == 0 {
		delete(q.lines, id)
	}
}

// begin and end count a tenant's requests under way.
func (q *queue) begin(id tenant.ID) {
	l := q.line(id)
	q.begun++
	l.served = q.begun
	l.running++
}

func (q *queue) end(id tenant.ID) {
	q.line(id).running--
	q.tidy(id)
}

// waitsFor is how long requests of the tenant have been waiting nearly all the
// time: with no gap of more than that.
func (q *queue) waitsFor(id tenant.ID, gap time.Duration) time.Duration {
	if l := q.lines[id]; l != nil && !l.new(gap) {
		return time.Since(l.waitsSince)
	}
	return 0
}

// new tells whether none has waited for longer than a gap.
func (l *line) new(gap time.Duration) bool {
	return len(l.waiting) == 0 && time.Since(l.waited) > gap
}

// add puts a request of the tenant at the end of its line, which is a new one
// where none has waited for longer than a gap.
func (q *queue) add(id tenant.ID, patience, gap time.Duration) *waiter {
	q.came++
	w := &waiter{tenant: id, patience: patience, came: q.came, turn: make(chan *Refused, 1)}
	l := q.line(id)
	now := time.Now()
	if l.new(gap) {
		l.waitsSince = now
	}
	l.waited = now
	l.waiting = append(l.waiting, w)
	q.size++
	return w
}

// remove takes a request out; false where its turn had come.
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
	q.tidy(w.tenant)
	return true
}

// next takes out the request whose turn it is; nil where none waits.
func (q *queue) next() *waiter {
	var least *line
	for _, l := range q.lines {
		if len(l.waiting) > 0 && (least == nil || l.before(least)) {
			least = l
		}
	}
	if least == nil {
		return nil
	}
	w := least.waiting[0]
	least.waited = time.Now()
	least.waiting = slices.Delete(least.waiting, 0, 1)
	q.size--
	return w
}

// before tells whose turn comes first.
func (l *line) before(other *line) bool {
	return cmp.Or(cmp.Compare(l.running, other.running), cmp.Compare(l.served, other.served),
		cmp.Compare(l.waiting[0].came, other.waiting[0].came)) < 0
}

// ahead is about how many requests would have their turn before another one of
// the tenant: those in its own line, and as many of each other tenant.
func (q *queue) ahead(id tenant.ID) int {
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

// displace takes the newest request out of the longest line, for one of a
// tenant that would still have fewer waiting; nil where there is no such line.
func (q *queue) displace(id tenant.ID) *waiter {
	longest := q.line(id)
	own := len(longest.waiting)
	for _, l := range q.lines {
		if len(l.waiting) > max(len(longest.waiting), own+1) {
			longest = l
		}
	}
	defer q.tidy(id)
	if len(longest.waiting) <= own+1 {
		return nil
	}
	last := len(longest.waiting) - 1
	w := longest.waiting[last]
	longest.waiting = slices.Delete(longest.waiting, last, last+1)
	q.size--
	return w
}
