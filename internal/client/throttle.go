package client

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// When a client turns calls away itself: more than a third of what it was to
// send lately was refused, and it was so much that refusing it costs the server
// something.
const (
	sentOfTaken = 1.5                    // calls that are sent for one that is taken on
	leastCalls  = 50                     // of the counts below
	lately      = 500 * time.Millisecond // after which a call counts for 1/e
	mostUnsent  = .9                     // the rest finds out when there is room again
)

// throttle turns calls away, unsent, while their server refuses many of them:
// what it spends on refusals it lacks for answers. More are sent than are taken
// on, so that the server goes on deciding which, and its client hears when there
// is room again (client-side throttling; Beyer et al., Site Reliability
// Engineering, ch. 21, where twice as many are sent). Calls count when they have
// ended, as those under way may well be answered. Safe for concurrent use; a nil
// throttle turns nothing away.
type throttle struct {
	mu             sync.Mutex
	counted        time.Time // when the counts were right
	taken, refused float64
	last           *status.Status // of the server's refusals
}

// admit returns why a call is not sent, as the server said of the last one.
func (t *throttle) admit() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fade(time.Now())
	calls := t.taken + t.refused
	if calls < leastCalls || rand.Float64() >= min(mostUnsent, 1-sentOfTaken*t.taken/calls) {
		return nil
	}
	t.refused++
	return &unsentError{t.last}
}

// heard counts what came of a call that was sent.
func (t *throttle) heard(err error) {
	if t == nil {
		return
	}
	refused := status.Code(err) == codes.ResourceExhausted && SaysWhen(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fade(time.Now())
	if refused {
		t.refused++
		t.last = status.Convert(err)
	} else {
		t.taken++
	}
}

// fade lets calls count for less as time passes. t.mu is held.
func (t *throttle) fade(now time.Time) {
	left := math.Exp(-now.Sub(t.counted).Seconds() / lately.Seconds())
	t.taken *= left
	t.refused *= left
	t.counted = now
}

// SaysWhen tells whether an error says when to come again.
func SaysWhen(err error) bool {
	for _, detail := range status.Convert(err).Proto().GetDetails() {
		if detail.MessageIs((*errdetails.RetryInfo)(nil)) {
			return true
		}
	}
	return false
}

// unsentError is a refusal by the client, in the words of the server's last.
type unsentError struct{ last *status.Status }

func (e *unsentError) Error() string {
	return "not sent, as most calls are refused: " + e.last.Err().Error()
}
func (e *unsentError) GRPCStatus() *status.Status { return e.last }

// Unsent tells whether the client refused a call itself, as its server refused
// most of those before.
func Unsent(err error) bool {
	var unsent *unsentError
	return errors.As(err, &unsent)
}
