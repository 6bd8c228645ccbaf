// Package simnet is a network in memory that does wrong on purpose: hosts that
// die and hang, links that are slow, narrow, cut or silent one way. Everything
// it decides follows from a seed and the time, so that within a bubble of
// testing/synctest, whose clock is false, a fault comes again just as it came.
// It waits on timers and conditions alone, never on the outside.
package simnet

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Network joins hosts by their names. Safe for concurrent use.
type Network struct {
	seed  uint64
	began time.Time

	mu    sync.Mutex
	hosts map[string]*Host
	links map[way]*link
	usual Link
	dials map[way]int
	conns map[*Conn]struct{}
	// changed is closed and replaced when a host or a link changes.
	changed chan struct{}
	log     []entry
}

// way is a direction between two hosts.
type way struct{ from, to string }

// entry is a line of the log.
type entry struct {
	at   time.Duration
	text string
}

// New makes a network without hosts.
func New(seed uint64) *Network {
	return &Network{
		seed: seed, began: time.Now(), hosts: map[string]*Host{}, links: map[way]*link{}, dials: map[way]int{},
		conns: map[*Conn]struct{}{}, changed: make(chan struct{}),
	}
}

// Logf adds to the log of what happened.
func (n *Network) Logf(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.logf(format, args...)
}

// logf is Logf. n.mu is held.
func (n *Network) logf(format string, args ...any) {
	n.log = append(n.log, entry{time.Since(n.began), fmt.Sprintf(format, args...)})
}

// Log is what happened, by time. What happened in the same moment is in the
// order of its words: goroutines of one moment run in an order that no seed
// decides.
func (n *Network) Log() []string {
	n.mu.Lock()
	sorted := slices.Clone(n.log)
	n.mu.Unlock()
	slices.SortFunc(sorted, func(a, b entry) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		if a.text < b.text {
			return -1
		}
		return 1
	})
	lines := make([]string, len(sorted))
	for i, e := range sorted {
		lines[i] = fmt.Sprintf("%11.6fs %s", e.at.Seconds(), e.text)
	}
	return lines
}

// Close resets every connection and takes every host down.
func (n *Network) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.hosts {
		n.kill(h)
	}
}

// change tells all that wait that a host or a link is not as it was. n.mu is
// held.
func (n *Network) change() {
	close(n.changed)
	n.changed = make(chan struct{})
	for c := range n.conns {
		c.in.readable.Broadcast()
		c.out.writable.Broadcast()
	}
}

// chance is a number from 0 to 1 that follows from the seed, a name and a time
// alone: what else is drawn, and in which order, does not change it.
func (n *Network) chance(name string, at time.Duration) float64 {
	return Chance(n.seed, fmt.Sprint(name, "@", int64(at)))
}

// Chance is a number from 0 up to 1 that follows from a seed and a name.
func Chance(seed uint64, name string) float64 {
	// FNV-1a, and the end of splitmix64 to spread what is alike.
	h := uint64(14695981039346656037) ^ seed
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return float64((h^h>>31)>>11) / (1 << 53)
}
