package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// recovered keeps a fault in one request from ending the process: requests are
// handled in goroutines of the protocol's library, where no server's own
// recovery reaches.
func recovered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				result, err = nil, fmt.Errorf("%s: a fault of triplemesh, please report it: %v", method, fault)
			}
		}()
		return next(ctx, method, req)
	}
}
