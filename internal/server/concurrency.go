package server

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// retryAfter is told to callers that are turned away.
const retryAfter = time.Second

// limitConcurrency turns RPCs away, rather than queueing them, while limit
// others are under way: a queue would spend the deadlines of all of them.
func limitConcurrency(limit int, stage string) around {
	var inFlight atomic.Int64
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		if limit == 0 || housekeeping(method) {
			return next(ctx)
		}
		defer inFlight.Add(-1)
		if inFlight.Add(1) > int64(limit) {
			return refuse(codes.ResourceExhausted, "TOO_MANY_REQUESTS", stage,
				[]protoadapt.MessageV1{&errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)}},
				"%s was not begun: the %s has %d RPCs under way, its limit; try again in %s", method, stage, limit, retryAfter)
		}
		return next(ctx)
	}
}
