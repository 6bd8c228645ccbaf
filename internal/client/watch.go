package client

import (
	"context"
	"errors"
	"strings"
	"time"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// errLeft ends a try at a replica that gives no sign of life.
var errLeft = errors.New("the replica gives no sign of life")

// missedPulses in a row are the death of a replica: one may be lost to a moment
// without processor time.
const missedPulses = 2

// longWait is how many times the patience a call waits for a replica that does
// not rest: when all were slow for a moment, a good one may rest for long.
const longWait = 2

// watch follows a try of a call, and calls leave where it should go on to
// another replica. The end of ctx ends it, as does stop.
//
// A replica that gave no sign within the caller's patience is left: it hangs, or
// cannot be reached. One that gave a sign is at work, which may take long: it is
// asked from time to time how it is, and left where it says nothing. Where there
// is no other replica, the call waits.
func (c caller) watch(ctx context.Context, cc *grpc.ClientConn, t *tries, leave context.CancelCauseFunc) (stop func() bool) {
	if c.patience <= 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(c.patience, func() {
		tick := time.NewTicker(c.patience)
		defer tick.Stop()
		began, missed := time.Now(), 0
		for ctx.Err() == nil {
			r, heard := t.now()
			switch {
			case r == nil: // none is connected
			case heard && pulse(ctx, cc, r, c.patience/2):
				missed = 0
			case heard:
				missed++
			default:
				missed = missedPulses
			}
			if missed >= missedPulses && ctx.Err() == nil && t.leave(time.Since(began) > longWait*c.patience) {
				c.log.WarnContext(ctx, "a call goes on to another replica", "replica", r.addr, "answered_at_all", heard)
				leave(errLeft)
				return
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}).Stop
}

// pulse tells whether a replica answers anything.
func pulse(ctx context.Context, cc *grpc.ClientConn, r *replica, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(pin(ctx, r), within)
	defer cancel()
	_, err := grpc_health_v1.NewHealthClient(cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	code := status.Code(err)
	return code != codes.DeadlineExceeded && code != codes.Unavailable
}

type pinKey struct{}

// pin sends the calls of a context to one replica, past all that follows calls.
func pin(ctx context.Context, r *replica) context.Context {
	return context.WithValue(ctx, pinKey{}, r)
}

func pinned(ctx context.Context) *replica {
	r, _ := ctx.Value(pinKey{}).(*replica)
	return r
}

// mayMove tells whether a call may be made again at another replica while the
// first may still be at it. What changes knowledge graphs may not, nor what reads
// a whole one and has nothing to say for minutes.
func mayMove(method string) bool {
	return method == retrieverv1.KnowledgeGraphService_List_FullMethodName ||
		!strings.HasPrefix(method, "/"+retrieverv1.KnowledgeGraphService_ServiceDesc.ServiceName+"/")
}
