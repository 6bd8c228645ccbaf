package simnet

import (
	"sync"
	"time"
)

const (
	// window is how many bytes may be sent that are not read yet.
	window = 64 << 10
	// piece is how many bytes go at once over a link that is narrow: what fits
	// into one packet.
	piece = 1460
)

// half is one direction of a connection: what one end sent and the other has
// not read yet. All of it is guarded by the network's mutex.
type half struct {
	segments []segment
	// unread is how many bytes that is.
	unread int
	// last is when what was sent last arrives: TCP keeps the order.
	last time.Time
	// resetAt is when the reader receives a reset; zero for never.
	resetAt time.Time
	// allowed is how many bytes pass before the connection is cut; 0 for any
	// number.
	allowed int

	readable, writable sync.Cond
	readBy, writeBy    time.Time
}

// segment is what was sent at once, or the end.
type segment struct {
	data    []byte
	arrival time.Time
	end     bool
}

func newHalf(n *Network) *half {
	return &half{readable: sync.Cond{L: &n.mu}, writable: sync.Cond{L: &n.mu}}
}

// delay postpones the arrival of segments in flight to at or later.
func (h *half) delay(at time.Time) {
	now := time.Now()
	for i, s := range h.segments {
		if s.arrival.After(now) || at.After(now) {
			h.segments[i].arrival = latest(s.arrival, at)
		}
	}
	if len(h.segments) > 0 {
		h.last = latest(h.last, h.segments[len(h.segments)-1].arrival)
	}
	if !h.resetAt.IsZero() {
		h.resetAt = latest(h.resetAt, at)
	}
}

// wait sleeps on a condition, until a time at most; the zero time is never. The
// network's mutex is held.
func (h *half) wait(on *sync.Cond, until time.Time) {
	if !until.IsZero() {
		left := time.Until(until)
		timer := time.AfterFunc(left, func() {
			on.L.Lock()
			defer on.L.Unlock()
			on.Broadcast()
		})
		defer timer.Stop()
	}
	on.Wait()
}

// latest returns the later of two times.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// earliest returns the earlier of two times; the zero time means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
