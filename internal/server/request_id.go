package server

import (
	"context"
	"crypto/rand"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// requestID takes over the caller's request id or makes one, and sends it back
// as a header.
func requestID(ctx context.Context, _ string, next func(context.Context) error) error {
	id := rand.Text()
	if given := metadata.ValueFromIncomingContext(ctx, telemetry.RequestIDKey); len(given) > 0 && usable(given[0]) {
		id = given[0]
	}
	// It fails only where the RPC has ended, and then nobody reads it.
	_ = grpc.SetHeader(ctx, metadata.Pairs(telemetry.RequestIDKey, id))
	return next(telemetry.WithRequestID(ctx, id))
}

// usable tells whether a caller's id may stand in logs and headers: short, and
// nothing but what ids are made of.
func usable(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return false
		}
	}
	return true
}
