package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// logRPCs writes a line for every RPC: those the service is to blame for as
// errors with all that is known, the caller's mistakes and successes as info.
// Requests and answers are never logged.
func logRPCs(log *slog.Logger) around {
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		start := time.Now()
		err := next(ctx)
		attrs := []slog.Attr{
			slog.String("method", method),
			slog.String("code", codeName(status.Code(err))),
			slog.Duration("duration", time.Since(start)),
		}
		if p, ok := peer.FromContext(ctx); ok {
			attrs = append(attrs, slog.String("peer", p.Addr.String()))
		}
		if caller := accountFrom(ctx).who(); !caller.Tenant.IsZero() {
			attrs = append(attrs, slog.String("tenant", caller.Tenant.String()), slog.String("subject", caller.Subject))
		}
		log.LogAttrs(ctx, levelOf(method, err), "rpc", append(attrs, errorAttrs(err)...)...)
		return err
	}
}

// errorAttrs are the error behind a status, and the stack of a panic.
func errorAttrs(err error) []slog.Attr {
	if err == nil {
		return nil
	}
	var m *mappedError
	if errors.As(err, &m) && m.cause != nil {
		err = m.cause
	}
	attrs := []slog.Attr{slog.String("error", err.Error())}
	var p *panicError
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	return attrs
}

func levelOf(method string, err error) slog.Level {
	switch status.Code(err) {
	case codes.Internal, codes.Unknown, codes.DataLoss, codes.Unimplemented:
		return slog.LevelError
	case codes.Unauthenticated:
		// The audit log has as many of these as anybody will read.
		return slog.LevelDebug
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded:
		if !housekeeping(method) {
			return slog.LevelWarn
		}
	}
	if housekeeping(method) {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
