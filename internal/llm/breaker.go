package llm

import (
	"errors"
	"sync"
	"time"
)

const (
	// tooMany failures in a row open a breaker.
	tooMany = 3
	// cooldown is how long it stays open when the endpoint did not say itself.
	cooldown = 10 * time.Second
)

// errElsewhere ends a call that waits for an endpoint whose breaker opens.
var errElsewhere = errors.New("the endpoint fails for other calls")

// breaker keeps calls away from an endpoint that fails, where there are others
// to ask. It opens after some failures in a row. When its time is over one call
// at a time is let through; the first that succeeds closes it.
type breaker struct {
	mu       sync.Mutex
	failures int // in a row
	until    time.Time
	probing  bool
	opened   chan struct{} // closed when it opens, another one when it closes
}

func newBreaker() *breaker { return &breaker{opened: make(chan struct{})} }

// allow tells whether a call may go first to this endpoint. One that may must
// end in succeeded, failed or left, and better goes elsewhere once opened is
// closed; the call that finds out whether the endpoint is well again has none.
func (b *breaker) allow() (opened <-chan struct{}, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures < tooMany:
		return b.opened, true
	case b.probing || time.Now().Before(b.until):
		return nil, false
	}
	b.probing = true
	return nil, true
}

// succeeded closes the breaker.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures >= tooMany {
		b.opened = make(chan struct{})
	}
	b.failures, b.probing = 0, false
}

// failed counts an attempt. The last of a call opens the breaker: it was tried
// again and again. retryAfter is what the endpoint said, if it did.
func (b *breaker) failed(retryAfter time.Duration, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.failures
	b.failures++
	b.probing = false
	if last {
		b.failures = max(b.failures, tooMany)
	}
	if b.failures < tooMany {
		return
	}
	b.until = time.Now().Add(max(retryAfter, cooldown))
	if was < tooMany {
		close(b.opened)
	}
}

// left is a call that says nothing of the endpoint: its caller went away, or it
// was never asked.
func (b *breaker) left() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
