package simnet

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Conn is one end of a connection.
type Conn struct {
	net            *Network
	host, peer     *Host
	remoteEnd      *Conn
	local, remote  Addr
	in, out        *half
	number         int
	closed, broken bool
}

// way is the direction in which this end sends.
func (c *Conn) way() way { return way{c.host.name, c.peer.name} }

func (c *Conn) name() string { return fmt.Sprintf("%s → %s #%d", c.host.name, c.peer.name, c.number) }

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for {
		now, in := time.Now(), c.in
		dark := c.net.link(c.remoteEnd.way()).Dark
		wake := in.readBy
		switch {
		case c.closed:
			return 0, c.fail("read", net.ErrClosed)
		case c.broken:
			return 0, c.fail("read", syscall.ECONNRESET)
		case hasPassed(in.readBy, now):
			return 0, c.fail("read", os.ErrDeadlineExceeded)
		case c.host.frozen || dark:
		case hasPassed(in.resetAt, now):
			c.breakOff()
			continue
		case len(in.segments) > 0 && !in.segments[0].arrival.After(now):
			return c.take(p)
		default:
			wake = earliest(wake, in.resetAt)
			if len(in.segments) > 0 {
				wake = earliest(wake, in.segments[0].arrival)
			}
		}
		in.wait(&in.readable, wake)
	}
}

// take reads what has arrived.
func (c *Conn) take(p []byte) (int, error) {
	in := c.in
	s := &in.segments[0]
	if s.end {
		return 0, io.EOF
	}
	copied := copy(p, s.data)
	s.data = s.data[copied:]
	in.unread -= copied
	if len(s.data) == 0 {
		in.segments[0] = segment{}
		in.segments = in.segments[1:]
	}
	if copied > 0 {
		in.writable.Broadcast()
	}
	return copied, nil
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	written := 0
	for {
		now, out := time.Now(), c.out
		switch {
		case c.closed:
			return written, c.fail("write", net.ErrClosed)
		case c.broken:
			return written, c.fail("write", syscall.EPIPE)
		case hasPassed(out.writeBy, now):
			return written, c.fail("write", os.ErrDeadlineExceeded)
		case c.host.frozen:
		case hasPassed(c.in.resetAt, now) && !c.net.link(c.remoteEnd.way()).Dark:
			c.breakOff()
			continue
		case len(p) == 0:
			return written, nil
		case out.unread < window:
			sent := min(len(p), window-out.unread)
			c.send(p[:sent], now)
			written += sent
			if p = p[sent:]; len(p) == 0 {
				return written, nil
			}
			continue
		}
		wake := out.writeBy
		if !hasPassed(c.in.resetAt, now) { // else it is delivered when the host thaws or the link recovers
			wake = earliest(wake, c.in.resetAt)
		}
		out.wait(&out.writable, wake)
	}
}

// send puts bytes under way.
func (c *Conn) send(p []byte, now time.Time) {
	out, l := c.out, c.net.link(c.way())
	if c.remoteEnd.closed {
		// The remote end is closed: its kernel answers with a reset.
		trip := c.net.latency(c.way(), now) + c.net.latency(c.remoteEnd.way(), now)
		c.in.resetAt = earliest(c.in.resetAt, now.Add(trip))
		return
	}
	cut := false
	if out.allowed > 0 {
		cut = len(p) >= out.allowed
		p = p[:min(len(p), out.allowed)]
		out.allowed -= len(p)
	}
	for len(p) > 0 {
		part := p
		at := now
		if l.Rate > 0 {
			part = p[:min(len(p), piece)]
			l.free = latest(l.free, now).Add(time.Duration(len(part)) * time.Second / time.Duration(l.Rate))
			at = l.free
		}
		p = p[len(part):]
		out.enqueue(segment{data: append([]byte(nil), part...), arrival: at.Add(c.net.latency(c.way(), now))})
	}
	if cut {
		c.net.logf("%s is cut", c.name())
		c.in.resetAt, out.resetAt = earliest(c.in.resetAt, out.last), earliest(out.resetAt, out.last)
		c.in.readable.Broadcast()
	}
}

// enqueue adds a segment behind all others.
func (h *half) enqueue(s segment) {
	s.arrival = latest(s.arrival, h.last)
	h.last = s.arrival
	h.unread += len(s.data)
	h.segments = append(h.segments, s)
	h.readable.Broadcast()
}

// Close implements net.Conn. The other end reads the bytes sent before and then io.EOF.
func (c *Conn) Close() error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	delete(c.net.conns, c)
	if !c.broken {
		now := time.Now()
		at := now.Add(c.net.latency(c.way(), now) + c.net.link(c.way()).CloseDelay)
		c.out.enqueue(segment{arrival: at, end: true})
		c.net.logf("%s is closed", c.name())
	}
	c.wake()
	return nil
}

// reset resets the connection from this end, at once, and from the other after the latency. The
// network's mutex is held.
func (c *Conn) reset() {
	now := time.Now()
	c.out.resetAt = earliest(c.out.resetAt, now.Add(c.net.latency(c.way(), now)))
	c.out.readable.Broadcast()
	c.out.writable.Broadcast()
	c.breakOff()
}

// breakOff breaks this end when it receives a reset.
func (c *Conn) breakOff() {
	if c.broken || c.closed {
		return
	}
	c.broken = true
	delete(c.net.conns, c)
	c.net.logf("%s is reset", c.name())
	c.wake()
}

// wake wakes all goroutines blocked on either half.
func (c *Conn) wake() {
	c.in.readable.Broadcast()
	c.in.writable.Broadcast()
	c.out.readable.Broadcast()
	c.out.writable.Broadcast()
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return c.deadline(t, &c.in.readBy, &c.out.writeBy)
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.deadline(t, &c.in.readBy) }

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.deadline(t, &c.out.writeBy) }

func (c *Conn) deadline(t time.Time, set ...*time.Time) error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if c.closed {
		return c.fail("set", net.ErrClosed)
	}
	for _, at := range set {
		*at = t
	}
	c.wake()
	return nil
}

func (c *Conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "sim", Source: c.local, Addr: c.remote, Err: err}
}

// hasPassed reports whether t is set and not after now.
func hasPassed(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }
