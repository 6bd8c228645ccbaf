package telemetry

import (
	"context"
	"crypto/rand"
)

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

// NewRequestID is the id that a caller gave, where it can be used: short, and
// nothing but what ids are made of. Else it is a new one.
func NewRequestID(given string) string {
	if given == "" || len(given) > 128 {
		return rand.Text()
	}
	for _, c := range []byte(given) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return rand.Text()
		}
	}
	return given
}
