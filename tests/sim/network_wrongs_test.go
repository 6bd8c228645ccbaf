package sim

import (
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
)

// networkWrongs are faults of the network, on the links between a process and its callers.
func networkWrongs() []wrong {
	return []wrong{
		{name: "latency", harmless: true, do: spoil(func(l *simnet.Link, f fault) {
			l.Latency += time.Duration(20+f.size*480) * time.Millisecond
		})},
		{name: "jitter", harmless: true, do: spoil(func(l *simnet.Link, f fault) {
			l.Jitter += time.Duration(20+f.size*480) * time.Millisecond
		})},
		{name: "narrow", harmless: true, do: spoil(func(l *simnet.Link, f fault) { l.Rate = 10_000 })},
		{name: "slow-close", harmless: true, do: spoil(func(l *simnet.Link, f fault) {
			l.CloseDelay = time.Duration(1+f.size*4) * time.Second
		})},
		{name: "cut", do: spoil(func(l *simnet.Link, f fault) { l.CutAfter = 1 + int(f.size*2000) })},
		{name: "half-open", dark: true, do: spoil(func(l *simnet.Link, f fault) { l.Dark = true })},
		{name: "partition", dark: true, do: func(m *mesh, f fault) func() {
			f.toward, f.from = true, true
			return spoil(func(l *simnet.Link, f fault) { l.Dark = true })(m, f)
		}},
		{name: "reset", do: func(m *mesh, f fault) func() {
			stop := make(chan struct{})
			every := time.NewTicker(time.Duration(20+f.size*500) * time.Millisecond)
			go func() {
				defer every.Stop()
				for {
					for _, caller := range m.callers(f.place) {
						m.net.Reset(caller, f.place)
					}
					select {
					case <-stop:
						return
					case <-every.C:
					}
				}
			}()
			return func() { close(stop) }
		}},
	}
}

// spoil changes the links of a process, in the directions of the fault, until it ends.
func spoil(how func(*simnet.Link, fault)) func(*mesh, fault) func() {
	return func(m *mesh, f fault) func() {
		s := &spoiled{fault: f, how: how}
		m.mu.Lock()
		m.spoils = append(m.spoils, s)
		m.mu.Unlock()
		m.relink(f.place)
		return func() {
			m.mu.Lock()
			m.spoils = slices.DeleteFunc(m.spoils, func(other *spoiled) bool { return other == s })
			m.mu.Unlock()
			m.relink(f.place)
		}
	}
}

// spoiled is a change to the links of a process. Several may be active.
type spoiled struct {
	fault
	how func(*simnet.Link, fault)
}

// relink applies the active changes to the links of a process.
func (m *mesh) relink(place string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	toward, from := m.link, m.link
	for _, s := range m.spoils {
		if s.place == place && s.toward {
			s.how(&toward, s.fault)
		}
		if s.place == place && s.from {
			s.how(&from, s.fault)
		}
	}
	for _, caller := range m.callers(place) {
		m.net.Set(caller, place, toward)
		m.net.Set(place, caller, from)
	}
}
