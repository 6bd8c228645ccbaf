package client

import (
	"sync"
	"time"

	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// How long a replica that failed is left alone: doubled each time that it fails
// again, as long as it does nothing else.
const (
	firstRest   = time.Second
	longestRest = 30 * time.Second
)

// replica is one machine of a service, as a connection knows it.
type replica struct {
	addr string

	mu     sync.Mutex
	calls  int       // under way
	faults int       // in a row
	rests  time.Time // until then
}

// failed lets it rest. Calls that were lost together count once.
func (r *replica) failed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Before(r.rests) {
		return
	}
	r.rests = now.Add(min(firstRest<<min(r.faults, 10), longestRest))
	r.faults++
}

// open tells whether it may be given a call. After its rest a replica that
// failed is given one call at a time, until one is answered.
func (r *replica) open() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faults == 0 || r.calls == 0 && !time.Now().Before(r.rests)
}

func (r *replica) busy() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

func (r *replica) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
}

// end learns from how a call ended whether the replica does its work, and tells
// whether it did. What it answered is its own business: an error is an answer.
func (r *replica) end(info balancer.DoneInfo) (answered bool) {
	r.mu.Lock()
	r.calls--
	r.mu.Unlock()
	switch code := status.Code(info.Err); {
	case code == codes.Canceled, code == codes.OK && !info.BytesReceived:
		return false // nobody waited for it
	case code == codes.DeadlineExceeded && info.BytesReceived:
		return false // it was at work
	case code == codes.DeadlineExceeded, code == codes.Unavailable && len(info.Trailer.Get(pushback)) == 0:
		r.failed()
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults, r.rests = 0, time.Time{}
	return true
}
