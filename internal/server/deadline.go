package server

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
)

// guardDeadline refuses requests that have no time left, and gives a deadline
// to those that have none.
func guardDeadline(cfg Config, stage string) around {
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		if housekeeping(method) {
			return next(ctx)
		}
		deadline, ok := ctx.Deadline()
		switch {
		case !ok && cfg.Timeout == 0:
			return next(ctx)
		case !ok:
			ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
			defer cancel()
			return next(ctx)
		}
		if left := time.Until(deadline); left <= cfg.MinTimeLeft {
			return refuse(codes.DeadlineExceeded, "NO_TIME_LEFT", stage, nil,
				"%s was not begun: %s left, at least %s needed; ask with a later deadline", method, left.Round(time.Microsecond), cfg.MinTimeLeft)
		}
		return next(ctx)
	}
}
