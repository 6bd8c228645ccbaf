package rest

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

type metadataKey struct{}

// carry keeps what a request's context sends along with calls: the gateway would
// put its own in that place, made of whatever headers there are.
func carry(ctx context.Context) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	return context.WithValue(ctx, metadataKey{}, md)
}

// carrying sends with every call what carry kept, and nothing else.
type carrying struct{ grpc.ClientConnInterface }

// Invoke implements grpc.ClientConnInterface.
func (c carrying) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	return c.ClientConnInterface.Invoke(kept(ctx), method, req, resp, opts...)
}

// NewStream implements grpc.ClientConnInterface.
func (c carrying) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return c.ClientConnInterface.NewStream(kept(ctx), desc, method, opts...)
}

func kept(ctx context.Context) context.Context {
	md, _ := ctx.Value(metadataKey{}).(metadata.MD)
	return metadata.NewOutgoingContext(ctx, md.Copy())
}
