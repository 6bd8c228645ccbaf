package admission

import (
	"fmt"
	"time"
)

// Reason is why a request was not let in.
type Reason string

const (
	// Full is: as many wait as may.
	Full Reason = "full"
	// TooLate is: its turn would come when half of its time is over, or later.
	TooLate Reason = "too late"
	// Waited is: its turn did not come in the time it could wait.
	Waited Reason = "waited"
	// Displaced is: it gave its place in the queue to a tenant with fewer there.
	Displaced Reason = "displaced"
)

// What callers are told to wait before they come again is not shorter than
// leastRetry, so that they do not come all the time, and not longer than
// mostRetry: it is a guess.
const (
	leastRetry = time.Second
	mostRetry  = time.Minute
)

// Refused is the error of a request that was not let in.
type Refused struct {
	// Reason is why.
	Reason Reason
	// InFlight and Waiting are how many others there were.
	InFlight, Waiting int
	// RetryAfter is when there may be a place.
	RetryAfter time.Duration
}

// Error implements error.
func (r *Refused) Error() string {
	return fmt.Sprintf("%d requests are under way and %d wait (%s); try again in %s",
		r.InFlight, r.Waiting, r.Reason, r.RetryAfter.Round(time.Second))
}

// orNil is r as an error that is nil where r is.
func (r *Refused) orNil() error {
	if r == nil {
		return nil
	}
	return r
}
