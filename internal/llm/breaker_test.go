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

func TestABreakerOpensAfterFailuresInARow(t *testing.T) {
	b := newBreaker()
	opened, _ := b.allow()
	for _, step := range []func(){
		func() { b.failed(0, false) }, func() { b.failed(0, false) },
		b.succeeded,
		func() { b.failed(0, false) }, b.left, func() { b.failed(0, false) },
	} {
		step()
		if _, ok := b.allow(); !ok || isClosed(opened) {
			t.Fatal("open before there were three failures in a row")
		}
	}
	b.failed(0, false)
	if _, ok := b.allow(); ok || !isClosed(opened) {
		t.Error("still closed after three failures in a row")
	}
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
