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
	sent []segment
	// unread is how many bytes that is.
	unread int
	// last is when what was sent last arrives: TCP keeps the order.
	last time.Time
	// resetAt is when the reader hears that the connection is no more; zero for
	// never.
	resetAt time.Time
	// allowed is how many bytes pass before the connection is cut; 0 for any
	// number.
	allowed int

	readable, writable sync.Cond
	readBy, writeBy    time.Time
}

// segment is what was sent at once, or the end.
type segment struct {
	data []byte
	at   time.Time
	end  bool
}

func newHalf(n *Network) *half {
	return &half{readable: sync.Cond{L: &n.mu}, writable: sync.Cond{L: &n.mu}}
}

// delay has what is not there yet arrive no sooner than at.
func (h *half) delay(at time.Time) {
	now := time.Now()
	for i, s := range h.sent {
		if s.at.After(now) || at.After(now) {
			h.sent[i].at = later(s.at, at)
		}
	}
	if len(h.sent) > 0 {
		h.last = later(h.last, h.sent[len(h.sent)-1].at)
	}
	if !h.resetAt.IsZero() {
		h.resetAt = later(h.resetAt, at)
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

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// sooner is the sooner of two times, of which the zero time is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
