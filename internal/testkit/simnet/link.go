package simnet

import "time"

// Link is how bytes fare from one host to another. The zero Link carries
// everything at once.
type Link struct {
	// Latency is how long bytes are under way, and Jitter what is added at most.
	Latency, Jitter time.Duration
	// Rate is how many bytes pass in a second; 0 for any number.
	Rate int
	// CloseDelay is how much longer the end of a connection is under way.
	CloseDelay time.Duration
	// CutAfter resets each connection once it has carried so many bytes more
	// this way; 0 for never.
	CutAfter int
	// Dark lets nothing through. What was sent is sent again when it is over, as
	// TCP does, for as long as the connection lasts.
	Dark bool
}

// link is a Link and what is under way on it.
type link struct {
	Link
	// free is when the last byte that was sent has left.
	free time.Time
	// darkened is since when nothing comes through.
	darkened time.Time
}

// Link is how the link between two hosts is, one way.
func (n *Network) Link(from, to string) Link {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.link(way{from, to}).Link
}

// SetAll says how all links are that are not set by themselves.
func (n *Network) SetAll(l Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.usual = l
}

// Set changes it. What is under way comes when it would have come; what was held
// in the dark comes when it is sent again.
func (n *Network) Set(from, to string, l Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	w, now := way{from, to}, time.Now()
	old := n.link(w)
	again := now
	switch {
	case l.Dark && !old.Dark:
		old.darkened = now
	case !l.Dark && old.Dark:
		// TCP doubles the pauses between its tries, so the next one comes within
		// as long again as the dark was.
		again = now.Add(time.Duration(n.chance("again "+from+" "+to,
			now.Sub(n.began)) * float64(now.Sub(old.darkened))))
	}
	cut := l.CutAfter != old.CutAfter
	old.Link = l
	for c := range n.conns {
		if c.way() != w {
			continue
		}
		if cut {
			c.out.allowed = l.CutAfter
		}
		c.out.delay(again)
	}
	n.logf("%s → %s: %s", from, to, l)
	n.change()
}

// String says what a link does wrong.
func (l Link) String() string {
	text := l.Latency.String()
	for _, part := range []struct {
		set  bool
		text string
	}{
		{l.Jitter > 0, " to " + (l.Latency + l.Jitter).String()}, {l.Rate > 0, ", narrow"},
		{l.CloseDelay > 0, ", closes slowly"},
		{l.CutAfter > 0, ", cuts"}, {l.Dark, ", dark"},
	} {
		if part.set {
			text += part.text
		}
	}
	return text
}

// link finds a link, made where there is none. n.mu is held.
func (n *Network) link(w way) *link {
	l := n.links[w]
	if l == nil {
		l = &link{Link: n.usual}
		n.links[w] = l
	}
	return l
}

// latency is how long what is sent now is under way. n.mu is held.
func (n *Network) latency(w way, now time.Time) time.Duration {
	l := n.link(w)
	if l.Jitter == 0 {
		return l.Latency
	}
	return l.Latency + time.Duration(n.chance(w.from+" "+w.to, now.Sub(n.began))*float64(l.Jitter))
}
