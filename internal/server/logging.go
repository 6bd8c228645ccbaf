package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// logRPCs logs every RPC when it ends, never its messages. The service's faults are errors with
// their cause; successes and the caller's mistakes are info.
func logRPCs(log *slog.Logger) link {
	logger := logging.LoggerFunc(func(ctx context.Context, level logging.Level, _ string, fields ...any) {
		attrs, service := rpcAttrs(fields)
		if housekeeping(service) && level < logging.LevelError {
			level = logging.LevelDebug
		}
		log.LogAttrs(ctx, slog.Level(level), logRPC, attrs...)
	})
	options := []logging.Option{
		logging.WithLogOnEvents(logging.FinishCall),
		logging.WithLevels(levelOf),
		logging.WithDurationField(func(d time.Duration) logging.Fields { return logging.Fields{"duration", d} }),
		logging.WithErrorFields(errorFields),
		logging.WithFieldsFromContextAndCallMeta(callerFields),
	}
	return link{"logging", logging.UnaryServerInterceptor(logger, options...),
		logging.StreamServerInterceptor(logger, options...)}
}

// callerFields are the method and, of an authenticated caller, the tenant and subject.
func callerFields(ctx context.Context, c interceptors.CallMeta) logging.Fields {
	fields := logging.Fields{"method", c.FullMethod()}
	if caller := accountFrom(ctx).identity(); !caller.Tenant.IsZero() {
		fields = append(fields, "tenant", caller.Tenant.String(), "subject", caller.Subject)
	}
	return fields
}

// errorFields are the cause that a status hides from the caller, and the stack of a panic.
func errorFields(err error) logging.Fields {
	if m, ok := errors.AsType[*mappedError](err); ok && m.cause != nil {
		err = m.cause
	}
	if p, ok := errors.AsType[*recovery.PanicError](err); ok {
		return logging.Fields{"error", fmt.Sprintf("panic: %v", p.Panic), "stack", string(p.Stack)}
	}
	return logging.Fields{"error", err.Error()}
}

// rpcAttrs returns the attributes of a log line, and the service: of the middleware's own fields
// the line has only the code and the peer, under the names of this log.
func rpcAttrs(fields logging.Fields) (attrs []slog.Attr, service string) {
	attrs = make([]slog.Attr, 0, 8)
	for it := fields.Iterator(); it.Next(); {
		switch key, value := it.At(); key {
		case logging.ServiceFieldKey:
			service, _ = value.(string)
		case "grpc.code":
			attrs = append(attrs, slog.String("code", codeNames[value]))
		case "peer.address":
			attrs = append(attrs, slog.Any("peer", value))
		case "method", "tenant", "subject", "duration", "error", "stack":
			attrs = append(attrs, slog.Any(key, value))
		}
	}
	return attrs, service
}

// codeNames maps "InvalidArgument", as codes.Code prints itself, to "INVALID_ARGUMENT".
var codeNames = func() map[any]string {
	names := map[any]string{}
	for _, c := range interceptors.AllCodes {
		names[c.String()] = codeName(c)
	}
	return names
}()

func levelOf(code codes.Code) logging.Level {
	switch code {
	case codes.Internal, codes.Unknown, codes.DataLoss, codes.Unimplemented:
		return logging.LevelError
	case codes.Unauthenticated:
		return logging.LevelDebug // the audit log has them, at a bounded rate
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded:
		return logging.LevelWarn
	}
	return logging.LevelInfo
}

// assignRequestID adopts the caller's request id or makes one, and returns it as a header.
var assignRequestID around = func(ctx context.Context, _ interceptors.CallMeta,
	next func(context.Context) error) error {
	given := ""
	if values := metadata.ValueFromIncomingContext(ctx, telemetry.RequestIDKey); len(values) > 0 {
		given = values[0]
	}
	id := telemetry.NewRequestID(given)
	// This fails only if the RPC has ended.
	_ = grpc.SetHeader(ctx, metadata.Pairs(telemetry.RequestIDKey, id))
	return next(telemetry.WithRequestID(ctx, id))
}
