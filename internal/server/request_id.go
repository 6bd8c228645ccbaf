package server

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// requestID takes over the caller's request id or makes one, and sends it back
// as a header.
func requestID(ctx context.Context, _ string, next func(context.Context) error) error {
	given := ""
	if values := metadata.ValueFromIncomingContext(ctx, telemetry.RequestIDKey); len(values) > 0 {
		given = values[0]
	}
	id := telemetry.NewRequestID(given)
	// It fails only where the RPC has ended, and then nobody reads it.
	_ = grpc.SetHeader(ctx, metadata.Pairs(telemetry.RequestIDKey, id))
	return next(telemetry.WithRequestID(ctx, id))
}
