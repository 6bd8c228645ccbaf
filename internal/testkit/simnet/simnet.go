// Package simnet simulates a faulty network in memory: hosts crash and hang, links are slow, narrow,
// cut or partitioned in one direction. All of it is derived from a seed and the clock, so that a run
// in a testing/synctest bubble is reproducible. It blocks on timers and conditions only, never on I/O.
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
	time time.Duration
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

// Log returns the events by time. Simultaneous events are sorted by text: the seed does not determine
// the order in which goroutines run.
func (n *Network) Log() []string {
	n.mu.Lock()
	sorted := slices.Clone(n.log)
	n.mu.Unlock()
	slices.SortFunc(sorted, func(a, b entry) int {
		if a.time != b.time {
			return int(a.time - b.time)
		}
		if a.text < b.text {
			return -1
		}
		return 1
	})
	lines := make([]string, len(sorted))
	for i, e := range sorted {
		lines[i] = fmt.Sprintf("%11.6fs %s", e.time.Seconds(), e.text)
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

// change wakes all waiters after a change of a host or a link. n.mu is held.
func (n *Network) change() {
	close(n.changed)
	n.changed = make(chan struct{})
	for c := range n.conns {
		c.in.readable.Broadcast()
		c.out.writable.Broadcast()
	}
}

// chance returns a number in [0, 1) derived from the seed, a name and a time only, independent of
// other draws and their order.
func (n *Network) chance(name string, at time.Duration) float64 {
	return Chance(n.seed, fmt.Sprint(name, "@", int64(at)))
}

// Chance returns a number in [0, 1) derived from a seed and a name.
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
