package llm

import (
	"testing"
	"testing/synctest"
	"time"
)

var testBreaker = DefaultConfig().Breaker

// isClosed reports whether a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestCircuitOpensAfterThreeFailuresOfSix(t *testing.T) {
	recordFailure := func(b *breaker) { b.recordFailure(0, false) }
	for _, c := range []struct {
		name string
		what string // f failed, s recordSuccess, l released
		open bool
	}{
		{"two failures do not open it", "ff", false},
		{"three in a row", "fff", true},
		{"every other one", "fsfsf", true},
		{"one in three", "fssfssfssfss", false},
		{"released calls do not count", "flllflf", true},
		{"old failures do not count", "ffssssfs", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBreaker(testBreaker)
			opened, _ := b.allow()
			for i, each := range c.what {
				if b.open {
					t.Fatalf("open before step %d", i)
				}
				map[rune]func(*breaker){'f': recordFailure, 's': (*breaker).recordSuccess,
					'l': (*breaker).release}[each](b)
			}
			if _, ok := b.allow(); ok == c.open || isClosed(opened) != c.open {
				t.Errorf("open is %v, want %v", !ok, c.open)
			}
		})
	}
}

func TestCooldownDoublesEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(testBreaker)
		var cooldowns []time.Duration
		b.onChange = func(open bool, cooldown time.Duration) {
			if open {
				cooldowns = append(cooldowns, cooldown)
			}
		}
		for range 8 {
			b.recordFailure(0, true)
			time.Sleep(testBreaker.MaxCooldown)
			b.allow()
			b.recordSuccess() // up for a moment
		}
		if cooldowns[0] != testBreaker.Cooldown || cooldowns[1] != 2*testBreaker.Cooldown ||
			cooldowns[7] != testBreaker.MaxCooldown {
			t.Errorf("cooldowns are %v", cooldowns)
		}
		for range 2 * testBreaker.Failures {
			b.recordSuccess()
		}
		if b.recordFailure(0, true); cooldowns[8] != testBreaker.Cooldown {
			t.Errorf("after a window of successes the cooldown is %v", cooldowns[8])
		}
	})
}

func TestCircuitStaysOpenForTheRetryAfterOfTheEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(testBreaker)
		b.recordFailure(2*time.Second, false)
		if time.Sleep(2*time.Second - time.Nanosecond); isAllowed(b) {
			t.Error("called before the retry-after has passed")
		}
		if time.Sleep(time.Nanosecond); !isAllowed(b) {
			t.Error("not called after the retry-after")
		}
	})
}

func TestTheLastFailureOfACallOpensTheCircuit(t *testing.T) {
	b := newBreaker(testBreaker)
	b.recordFailure(0, true)
	if _, ok := b.allow(); ok {
		t.Error("the circuit is still closed")
	}
}

func TestAnOpenCircuitIsProbedByOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(testBreaker)
		b.recordFailure(time.Minute, true)
		if time.Sleep(time.Minute - time.Nanosecond); isAllowed(b) {
			t.Fatal("probed before the retry-after has passed")
		}
		time.Sleep(time.Nanosecond)
		opened, ok := b.allow()
		if !ok || opened != nil {
			t.Fatalf("got %v, %v; want a probe, which is not diverted", opened, ok)
		}
		if isAllowed(b) {
			t.Error("two probes at once")
		}
		b.release()
		if !isAllowed(b) {
			t.Error("no second probe after the first was released")
		}
		b.recordFailure(0, false)
		if time.Sleep(testBreaker.Cooldown - time.Nanosecond); isAllowed(b) {
			t.Error("probed right after a failed probe")
		}
		if time.Sleep(time.Nanosecond); !isAllowed(b) {
			t.Error("no probe after the cooldown")
		}
		b.recordSuccess()
		if opened, ok := b.allow(); !ok || isClosed(opened) || !isAllowed(b) {
			t.Error("not closed by a successful probe")
		}
	})
}

func isAllowed(b *breaker) bool {
	_, ok := b.allow()
	return ok
}

func TestACircuitThatRetryAfterOpenedFailsOn(t *testing.T) {
	b := newBreaker(testBreaker)
	b.recordFailure(time.Minute, false) // opens it without counting an opening
	b.recordFailure(0, false)           // of a call that was under way
	if !b.open {
		t.Error("the circuit is closed")
	}
}
