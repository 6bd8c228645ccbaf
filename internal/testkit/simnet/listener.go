package simnet

import (
	"net"
	"sync"
	"syscall"
)

// listener takes the connections of a host.
type listener struct {
	host    *Host
	came    sync.Cond
	backlog []*Conn
	closed  bool
}

// Listen takes the connections that come to the host. There is one listener at
// a time.
func (h *Host) Listen() (net.Listener, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	switch {
	case !h.running:
		return nil, &net.OpError{Op: "listen", Net: "sim", Addr: Addr(h.name), Err: syscall.ENETDOWN}
	case h.listener != nil:
		return nil, &net.OpError{Op: "listen", Net: "sim", Addr: Addr(h.name), Err: syscall.EADDRINUSE}
	}
	h.listener = &listener{host: h, came: sync.Cond{L: &h.net.mu}}
	return h.listener, nil
}

// Accept implements net.Listener. A process that hangs accepts nothing, and its
// kernel keeps what comes.
func (l *listener) Accept() (net.Conn, error) {
	n := l.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(l.backlog) == 0 && !l.closed {
		l.came.Wait()
	}
	if l.closed {
		return nil, &net.OpError{Op: "accept", Net: "sim", Addr: l.Addr(), Err: net.ErrClosed}
	}
	conn := l.backlog[0]
	l.backlog = l.backlog[1:]
	return conn, nil
}

// Close implements net.Listener. What was not accepted is reset.
func (l *listener) Close() error {
	l.host.net.mu.Lock()
	defer l.host.net.mu.Unlock()
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return Addr(net.JoinHostPort(l.host.name, "80")) }

// add puts a connection to those that wait. n.mu is held.
func (l *listener) add(c *Conn) {
	l.backlog = append(l.backlog, c)
	l.came.Signal()
}

// close is Close. n.mu is held.
func (l *listener) close() {
	if l.closed {
		return
	}
	l.closed = true
	l.host.listener = nil
	for _, c := range l.backlog {
		c.reset()
	}
	l.backlog = nil
	l.came.Broadcast()
}
