package client

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// callStream is a streaming call. It ends when no further message can be received, or with the only
// response.
//
// A call with a single request is made again at another replica if its replica is lost before the
// first response. Later it cannot be: received messages may have been passed on. Lost reports such
// an end.
type callStream struct {
	grpc.ClientStream
	method       string
	call         caller
	cancel       context.CancelFunc
	serverStream bool
	open         func() error
	abandon      context.CancelCauseFunc // ends the attempt
	waitBackoff  func() bool
	attempts     attempts
	movable      bool // until the first response
	recorded     bool // the throttle knows whether the server admitted it
	retried      bool // it was retried after it had been cut short
	request      any
}

func (s *callStream) SendMsg(m any) error {
	s.request = m
	return blameEncoding(s.ClientStream.SendMsg(m))
}

func (s *callStream) RecvMsg(m any) error {
	err := s.receive(m)
	for err != nil && s.moves(err) {
		if err = s.restart(); err == nil {
			err = s.receive(m)
		}
	}
	s.movable = false
	if !s.recorded {
		s.recorded = true
		s.call.throttle.record(err)
	}
	if err != nil || !s.serverStream {
		s.call.takeSpans(s.Context(), s.Trailer())
		s.cancel()
	}
	if err == io.EOF {
		return err
	}
	return explain(err, s.method)
}

// receive receives from the current replica.
func (s *callStream) receive(m any) error {
	ctx := s.Context()
	err := s.ClientStream.RecvMsg(m)
	if err != nil && err != io.EOF && errors.Is(context.Cause(ctx), errAbandoned) {
		return errLost
	}
	return err
}

// errLost ends a call that abandoned its replica.
var errLost = status.Error(codes.Unavailable, "the replica stopped giving signs of life")

// moves reports whether the call continues at another replica. After a lost connection it does once.
func (s *callStream) moves(err error) bool {
	switch {
	case !s.movable:
		return false
	case errors.Is(err, errLost):
		return true
	case outdated(err):
		return s.attempts.hasAlternative()
	}
	once := !s.retried && IsLost(err)
	s.retried = s.retried || once
	return once && s.waitBackoff()
}

// restart opens the call at another replica and sends the request again.
func (s *callStream) restart() error {
	if err := s.open(); err != nil {
		return err
	}
	if err := s.ClientStream.SendMsg(s.request); err != nil {
		return err
	}
	return s.ClientStream.CloseSend()
}

// attempts records at which replicas a call has been, as the balancer reports them, and whether the
// current one has shown a sign of life: headers, which a stage sends before it waits for its model,
// or the response. It is safe for concurrent use.
type attempts struct {
	mu        sync.Mutex
	replicas  *replicas
	visited   []*replica // the last one is the current one
	responded bool
}

type attemptsKey struct{}

func withAttempts(ctx context.Context, a *attempts) context.Context {
	return context.WithValue(ctx, attemptsKey{}, a)
}

// attemptsOf returns those of a call, or new ones for a call that is not tracked.
func attemptsOf(ctx context.Context) *attempts {
	if a, ok := ctx.Value(attemptsKey{}).(*attempts); ok {
		return a
	}
	return &attempts{}
}

// add records that the call is sent to a replica.
func (a *attempts) add(all *replicas, r *replica) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.replicas, a.visited, a.responded = all, append(a.visited, r), false
}

func (a *attempts) list() []*replica {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.visited)
}

// current returns the replica that the call is at, nil before the first one, and whether that has
// responded.
func (a *attempts) current() (r *replica, responded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.visited) == 0 {
		return nil, false
	}
	return a.visited[len(a.visited)-1], a.responded
}

// abandon reports whether the call may move to another replica, and if so marks the current one as
// failed. After a long wait it may move to one that is backing off.
func (a *attempts) abandon(long bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.replicas.hasAlternative(a.visited, long) || !a.replicas.hedges.take() {
		return false
	}
	a.visited[len(a.visited)-1].fail()
	return true
}

// hasAlternative reports whether there is a replica that the call has not been at.
func (a *attempts) hasAlternative() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.replicas != nil && a.replicas.hasAlternative(a.visited, false)
}

// signHandler records the replicas' signs of life.
type signHandler struct{}

// HandleRPC implements stats.Handler.
func (signHandler) HandleRPC(ctx context.Context, event stats.RPCStats) {
	switch event.(type) {
	case *stats.InHeader, *stats.InTrailer:
		a := attemptsOf(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.responded = true
	}
}

// TagRPC implements stats.Handler.
func (signHandler) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (signHandler) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (signHandler) HandleConn(context.Context, stats.ConnStats) {}
