package cluster

import (
	"context"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// Attempts counts the attempts of RPCs, including gRPC's transparent retries. Health checks do not
// count.
type Attempts struct{ All, Failed atomic.Int64 }

type housekeeping struct{}

// TagRPC implements stats.Handler.
func (a *Attempts) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	if strings.HasPrefix(info.FullMethodName, "/grpc.") {
		return context.WithValue(ctx, housekeeping{}, true)
	}
	return ctx
}

// HandleRPC implements stats.Handler.
func (a *Attempts) HandleRPC(ctx context.Context, s stats.RPCStats) {
	end, ok := s.(*stats.End)
	if !ok || ctx.Value(housekeeping{}) != nil {
		return
	}
	a.All.Add(1)
	if end.Error != nil {
		a.Failed.Add(1)
	}
}

// TagConn implements stats.Handler.
func (*Attempts) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (*Attempts) HandleConn(context.Context, stats.ConnStats) {}
