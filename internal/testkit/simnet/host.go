package simnet

import (
	"context"
	"net"
	"strconv"
	"syscall"
	"time"
)

// Host is a machine with one process, from when it comes up until it is killed.
type Host struct {
	net      *Network
	name     string
	running  bool
	frozen   bool
	listener *listener
}

// Boot brings a host up. One of the same name that is up is killed before.
func (n *Network) Boot(name string) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.hosts[name]; old != nil {
		n.kill(old)
	}
	h := &Host{net: n, name: name, running: true}
	n.hosts[name] = h
	n.logf("%s is up", name)
	n.change()
	return h
}

// Name is the host's name.
func (h *Host) Name() string { return h.name }

// Kill ends the host: its connections are reset, and it takes none any more.
func (h *Host) Kill() {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	h.net.kill(h)
}

// kill is Kill. n.mu is held.
func (n *Network) kill(h *Host) {
	if !h.running {
		return
	}
	h.running, h.frozen = false, false
	n.logf("%s is down", h.name)
	if h.listener != nil {
		h.listener.close()
	}
	for c := range n.conns {
		if c.host == h {
			c.reset()
		}
	}
	n.change()
}

// Freeze stops the host's process, as SIGSTOP does: the kernel still takes
// connections and bytes for it, and the process neither reads nor writes.
func (h *Host) Freeze() { h.freeze(true, "%s hangs") }

// Thaw resumes the process.
func (h *Host) Thaw() { h.freeze(false, "%s resumes") }

func (h *Host) freeze(frozen bool, told string) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	if !h.running || h.frozen == frozen {
		return
	}
	h.frozen = frozen
	h.net.logf(told, h.name)
	h.net.change()
}

// Reset resets every connection between two hosts.
func (n *Network) Reset(a, b string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		if w := c.way(); w == (way{a, b}) || w == (way{b, a}) {
			c.reset()
		}
	}
}

// Dial connects to a host, whatever the port.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	to, _, err := net.SplitHostPort(addr)
	if err != nil {
		to = addr
	}
	conn, err := h.dial(ctx, to)
	if err != nil {
		h.net.Logf("%s dials %s: %v", h.name, to, err)
		return nil, &net.OpError{Op: "dial", Net: "sim", Addr: Addr(addr), Err: err}
	}
	return conn, nil
}

func (h *Host) dial(ctx context.Context, to string) (*Conn, error) {
	n, there, back := h.net, way{h.name, to}, way{to, h.name}
	n.mu.Lock()
	now := time.Now()
	trip := n.latency(there, now) + n.latency(back, now)
	n.mu.Unlock()
	if trip > 0 {
		timer := time.NewTimer(trip)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
	for {
		n.mu.Lock()
		peer, changed := n.hosts[to], n.changed
		switch {
		case !h.running:
			n.mu.Unlock()
			return nil, syscall.ENETDOWN
		case h.frozen || n.link(there).Dark || n.link(back).Dark:
		case peer == nil || !peer.running || peer.listener == nil:
			n.mu.Unlock()
			return nil, syscall.ECONNREFUSED
		default:
			conn := n.connect(h, peer)
			n.mu.Unlock()
			return conn, nil
		}
		n.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// connect joins two hosts; the one end waits to be accepted. n.mu is held.
func (n *Network) connect(from, to *Host) *Conn {
	n.dials[way{from.name, to.name}]++
	number := n.dials[way{from.name, to.name}]
	// Every host answers at one port, and calls from as many as it needs.
	local, remote := Addr(net.JoinHostPort(from.name, strconv.Itoa(10000+number))),
		Addr(net.JoinHostPort(to.name, "80"))
	out, in := newHalf(n), newHalf(n)
	a := &Conn{net: n, host: from, peer: to, local: local, remote: remote, in: in, out: out, number: number}
	b := &Conn{net: n, host: to, peer: from, local: remote, remote: local, in: out, out: in, number: number}
	a.remoteEnd, b.remoteEnd = b, a
	out.allowed, in.allowed = n.link(a.way()).CutAfter, n.link(b.way()).CutAfter
	n.conns[a], n.conns[b] = struct{}{}, struct{}{}
	n.logf("%s is connected", a.name())
	to.listener.add(b)
	return a
}

// Addr is host:port.
type Addr string

// Network implements net.Addr.
func (Addr) Network() string { return "sim" }

// String implements net.Addr.
func (a Addr) String() string { return string(a) }
