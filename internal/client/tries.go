package client

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc/stats"
)

// tries are where one call has been, told by the balancer, and whether the
// replica that it is at has given a sign of it: headers, which a stage sends as
// soon as it waits for its model, or the answer. Safe for concurrent use.
type tries struct {
	mu    sync.Mutex
	of    *replicas
	been  []*replica // the last of them is where it is
	heard bool
}

type triesKey struct{}

func withTries(ctx context.Context, t *tries) context.Context {
	return context.WithValue(ctx, triesKey{}, t)
}

// triesOf are those of a call; of one that nobody follows, new ones.
func triesOf(ctx context.Context) *tries {
	if t, ok := ctx.Value(triesKey{}).(*tries); ok {
		return t
	}
	return &tries{}
}

// at tells that the call goes to a replica now.
func (t *tries) at(of *replicas, r *replica) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of, t.been, t.heard = of, append(t.been, r), false
}

func (t *tries) tried() []*replica {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.been)
}

// now is where the call is, nil before it is anywhere, and whether that gave a
// sign.
func (t *tries) now() (r *replica, heard bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.been) == 0 {
		return nil, false
	}
	return t.been[len(t.been)-1], t.heard
}

// leave tells whether the call may go on to another replica, and blames the one
// that it is at. Where all others rest, it may once it has waited long.
func (t *tries) leave(long bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.of.elsewhere(t.been, long) || !t.of.allowance.take() {
		return false
	}
	t.been[len(t.been)-1].failed()
	return true
}

// more tells whether a replica is there that the call was not at.
func (t *tries) more() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of != nil && t.of.elsewhere(t.been, false)
}

// ear hears the signs of replicas.
type ear struct{}

// HandleRPC implements stats.Handler.
func (ear) HandleRPC(ctx context.Context, event stats.RPCStats) {
	switch event.(type) {
	case *stats.InHeader, *stats.InTrailer:
		t := triesOf(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.heard = true
	}
}

// TagRPC implements stats.Handler.
func (ear) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (ear) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (ear) HandleConn(context.Context, stats.ConnStats) {}
