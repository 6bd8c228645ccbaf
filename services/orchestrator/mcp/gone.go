package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type carrierKey struct{}

// withCarrier keeps the context of an HTTP request where untilGone finds it:
// the protocol's library hands on its values, but not its end.
func withCarrier(ctx context.Context) context.Context {
	return context.WithValue(ctx, carrierKey{}, ctx)
}

// untilGone ends what a client asked for once its HTTP request is gone: nobody
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
