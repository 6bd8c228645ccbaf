package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve serves one client over a transport until it is gone or ctx ends; either
// ends what it asked for and was not told yet.
func Serve(ctx context.Context, s *sdk.Server, over sdk.Transport) error {
	return s.Run(withCarrier(ctx), over)
}

type carrierKey struct{}

// withCarrier keeps the context of an HTTP request, or of a whole connection,
// where untilGone finds it: the protocol's library hands on its values, but not
// its end.
func withCarrier(ctx context.Context) context.Context {
	return context.WithValue(ctx, carrierKey{}, ctx)
}

// untilGone ends what a client asked for once what it asked over is gone: nobody
// could be told the answer any more, and models cost money.
func untilGone(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if carrier, ok := ctx.Value(carrierKey{}).(context.Context); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(carrier, cancel)()
		}
		return next(ctx, method, req)
	}
}
