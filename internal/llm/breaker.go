package llm

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"time"
)

// errCircuitOpen ends a call that waits for an endpoint whose circuit opens.
var errCircuitOpen = errors.New("the endpoint fails for other calls")

// breaker is the circuit breaker of an endpoint that has alternatives. While the circuit is open,
// one call at a time may probe once the cooldown has passed; the first that succeeds closes it.
type breaker struct {
	cfg BreakerConfig
	// onChange is called, with mu held, when the circuit opens and closes; may be nil.
	onChange func(open bool, cooldown time.Duration)

	mu        sync.Mutex
	history   uint // a bit for each of the last attempts, the latest lowest: 1 failed
	successes int  // since the last failure
	open      bool
	openings  int // since the last full window of successes
	until     time.Time
	probing   bool
	opened    chan struct{} // closed when the circuit opens, replaced when it closes
}

func newBreaker(cfg BreakerConfig) *breaker { return &breaker{cfg: cfg, opened: make(chan struct{})} }

// window is how many attempts are remembered: one that fails every other time has no three failures
// in a row.
func (b *breaker) window() int { return 2 * b.cfg.Failures }

// allow reports whether a call may go to this endpoint first. Each such call must end in
// recordSuccess, recordFailure or release, and should go elsewhere once opened is closed; a probe
// has none.
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

// recordSuccess closes the circuit.
func (b *breaker) recordSuccess() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	b.history = b.history << 1 & (1<<b.window() - 1)
	if b.successes++; b.successes >= b.window() {
		b.openings = 0
	}
	if b.open {
		b.open, b.history, b.opened = false, 0, make(chan struct{})
		b.notify(false, 0)
	}
}

// recordFailure counts a failed attempt. The circuit opens after too many failures in the window,
// after the last attempt of a call, and for retryAfter if the endpoint asks for that.
func (b *breaker) recordFailure(retryAfter time.Duration, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.successes = 0
	b.history = (b.history<<1 | 1) & (1<<b.window() - 1)
	reopens := b.probing || !b.open
	b.probing = false
	if !b.open && !last && retryAfter == 0 && bits.OnesCount(b.history) < b.cfg.Failures {
		return
	}
	cooldown := retryAfter
	if cooldown == 0 {
		if reopens {
			b.openings++
		}
		// A circuit that Retry-After opened has not been counted.
		cooldown = min(b.cfg.Cooldown<<min(max(b.openings-1, 0), 16), b.cfg.MaxCooldown)
	}
	if until := time.Now().Add(cooldown); until.After(b.until) {
		b.until = until
	}
	if !b.open {
		b.open = true
		close(b.opened)
		b.notify(true, cooldown)
	}
}

// release ends a call that says nothing about the endpoint: its caller left, or it was not called.
func (b *breaker) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

func (b *breaker) notify(open bool, cooldown time.Duration) {
	if b.onChange != nil {
		b.onChange(open, cooldown)
	}
}

// Substitute answers some requests in place of the endpoints, such as the reader of an evaluation
// that knows the right answers. It must be safe for concurrent use.
type Substitute interface {
	// Substitute answers a request. If ok is false, the endpoints answer it.
	Substitute(ctx context.Context, req Request) (resp Response, ok bool, err error)
	// ReadingShare is Config.ReadingShare of its answers.
	ReadingShare() float32
}

// substitute returns the answer of the configured Substitute, if it has one. The answer counts
// against the budget like that of a model; it is neither read from the cache nor stored there.
func (c *Client) substitute(ctx context.Context, req Request) (Response, bool, error) {
	if c.cfg.Substitute == nil {
		return Response{}, false, nil
	}
	resp, ok, err := c.cfg.Substitute.Substitute(ctx, req)
	switch {
	case err != nil:
		return Response{}, true, &Error{kind: ErrRefused, cause: err,
			text: "answer in place of the model: " + err.Error()}
	case !ok:
		return Response{}, false, nil
	case resp.Text == "":
		return Response{}, true, errorf(ErrUnusable, "answer in place of the model: the answer is empty")
	}
	resp.Usage = plausibleUsage(req, resp, c.cfg.ReasoningTokens)
	held, spent := req.Ledger.reserve(resp.Usage.PromptTokens+resp.Usage.CompletionTokens, 0)
	if spent != nil {
		return Response{}, true, spent
	}
	req.Ledger.settle(held, resp.Usage, resp.Model)
	if req.TopLogProbs == 0 {
		resp.Tokens = nil
	}
	if req.Delta != nil {
		req.Delta(resp.Text)
	}
	return resp, true, nil
}
