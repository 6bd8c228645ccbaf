package telemetry

import "context"

// RequestIDKey is the gRPC metadata key, in and out, of the request id.
const RequestIDKey = "x-request-id"

type requestIDKey struct{}

// WithRequestID gives the context the id that logs carry and that
// internal/client sends on.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the context's request id; empty where it has none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
