package llm

import (
	"errors"
	"math/bits"
	"sync"
	"time"
)

const (
	// tooMany failures among the last few attempts open a breaker: an endpoint
	// that fails every other time has no three in a row.
	tooMany = 3
	recent  = 6
	// cooldown is how long it stays open when the endpoint did not say itself,
	// doubled each time that it opens again before it was calm, up to the longest.
	cooldown        = 10 * time.Second
	longestCooldown = 5 * time.Minute
)

// errElsewhere ends a call that waits for an endpoint whose breaker opens.
var errElsewhere = errors.New("the endpoint fails for other calls")

// breaker keeps calls away from an endpoint that fails, where there are others
// to ask. When its time is over one call at a time is let through; the first
// that succeeds closes it.
type breaker struct {
	// changed is called, under the lock, when it opens and closes; nil tells
	// nobody.
	changed func(open bool, pause time.Duration)

	mu      sync.Mutex
	last    uint // a bit for each of the last attempts, the latest lowest: 1 failed
	calm    int  // successes since the last failure
	open    bool
	times   int // how often it opened without calm between
	until   time.Time
	probing bool
	opened  chan struct{} // closed when it opens, another one when it closes
}

func newBreaker() *breaker { return &breaker{opened: make(chan struct{})} }

// allow tells whether a call may go first to this endpoint. One that may must
// end in succeeded, failed or left, and better goes elsewhere once opened is
// closed; the call that finds out whether the endpoint is well again has none.
func (b *breaker) allow() (opened <-chan struct{}, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.open:
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
	b.probing = false
	b.last = b.last << 1 & (1<<recent - 1)
	if b.calm++; b.calm >= recent {
		b.times = 0
	}
	if b.open {
		b.open, b.last, b.opened = false, 0, make(chan struct{})
		b.tell(false, 0)
	}
}

// failed counts an attempt. The last of a call opens the breaker: it was tried
// again and again; and so does one that was told to wait, for as long as that.
func (b *breaker) failed(retryAfter time.Duration, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calm = 0
	b.last = (b.last<<1 | 1) & (1<<recent - 1)
	again := b.probing || !b.open
	b.probing = false
	if !b.open && !last && retryAfter == 0 && bits.OnesCount(b.last) < tooMany {
		return
	}
	pause := retryAfter
	if pause == 0 {
		if again {
			b.times++
		}
		pause = min(cooldown<<min(b.times-1, 16), longestCooldown)
	}
	if until := time.Now().Add(pause); until.After(b.until) {
		b.until = until
	}
	if !b.open {
		b.open = true
		close(b.opened)
		b.tell(true, pause)
	}
}

// left is a call that says nothing of the endpoint: its caller went away, or it
// was never asked.
func (b *breaker) left() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

func (b *breaker) tell(open bool, pause time.Duration) {
	if b.changed != nil {
		b.changed(open, pause)
	}
}
