package llm

import (
	"testing"
	"testing/synctest"
	"time"
)

// isClosed tells whether a channel is.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestABreakerOpensAfterThreeFailuresOfSix(t *testing.T) {
	fails := func(b *breaker) { b.failed(0, false) }
	for _, c := range []struct {
		name string
		what string // f failed, s succeeded, l left
		open bool
	}{
		{"two failures are none", "ff", false},
		{"three in a row", "fff", true},
		{"every other one", "fsfsf", true},
		{"one in three", "fssfssfssfss", false},
		{"calls that say nothing do not count", "flllflf", true},
		{"what was long ago does not count", "ffssssfs", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBreaker()
			opened, _ := b.allow()
			for i, each := range c.what {
				if b.open {
					t.Fatalf("open before step %d", i)
				}
				map[rune]func(*breaker){'f': fails, 's': (*breaker).succeeded, 'l': (*breaker).left}[each](b)
			}
			if _, ok := b.allow(); ok == c.open || isClosed(opened) != c.open {
				t.Errorf("open is %v, want %v", !ok, c.open)
			}
		})
	}
}

func TestABreakerStaysOpenLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker()
		var pauses []time.Duration
		b.changed = func(open bool, pause time.Duration) {
			if open {
				pauses = append(pauses, pause)
			}
		}
		for range 8 {
			b.failed(0, true)
			time.Sleep(longestCooldown)
			b.allow()
			b.succeeded() // well for a moment
		}
		if pauses[0] != cooldown || pauses[1] != 2*cooldown || pauses[7] != longestCooldown {
			t.Errorf("it stayed open for %v", pauses)
		}
		for range recent {
			b.succeeded()
		}
		if b.failed(0, true); pauses[8] != cooldown {
			t.Errorf("after calm it stays open for %v", pauses[8])
		}
	})
}

func TestABreakerHoldsAnEndpointForAsLongAsItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker()
		b.failed(2*time.Second, false)
		if time.Sleep(2*time.Second - time.Nanosecond); isAllowed(b) {
			t.Error("asked before its time")
		}
		if time.Sleep(time.Nanosecond); !isAllowed(b) {
			t.Error("not asked at its time")
		}
	})
}

func TestTheLastFailureOfACallOpensABreaker(t *testing.T) {
	b := newBreaker()
	b.failed(0, true)
	if _, ok := b.allow(); ok {
		t.Error("still closed")
	}
}

func TestAnOpenBreakerIsTriedByOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker()
		b.failed(time.Minute, true)
		if time.Sleep(time.Minute - time.Nanosecond); isAllowed(b) {
			t.Fatal("tried before the time that the endpoint said")
		}
		time.Sleep(time.Nanosecond)
		opened, ok := b.allow()
		if !ok || opened != nil {
			t.Fatalf("got %v, %v; want a call that nothing sends elsewhere", opened, ok)
		}
		if isAllowed(b) {
			t.Error("tried by two calls at once")
		}
		b.left()
		if !isAllowed(b) {
			t.Error("not tried again after the call that tried it was given up")
		}
		b.failed(0, false)
		if time.Sleep(cooldown - time.Nanosecond); isAllowed(b) {
			t.Error("tried at once after it failed again")
		}
		if time.Sleep(time.Nanosecond); !isAllowed(b) {
			t.Error("never tried again")
		}
		b.succeeded()
		if opened, ok := b.allow(); !ok || isClosed(opened) || !isAllowed(b) {
			t.Error("not closed by a call that succeeded")
		}
	})
}

func isAllowed(b *breaker) bool {
	_, ok := b.allow()
	return ok
}
