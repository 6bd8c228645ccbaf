package server

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// gRPC ends an RPC whose message it cannot decode at once, as INTERNAL, as if
// the service were to blame, and before any interceptor of a unary RPC. So
// messages are received through an undecoded: the codec leaves its error there,
// and the validation refuses the request, which the rest of the chain counts
// and logs like any other.
type undecoded struct {
	message any
	err     error
}

// codec is gRPC's own for proto, which knows undecoded.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if u, ok := v.(*undecoded); ok {
		u.err = c.CodecV2.Unmarshal(data, u.message)
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}

// withDecodeErrors lets the unary requests of a service into the chain before
// it is known whether they could be decoded.
func withDecodeErrors(desc *grpc.ServiceDesc) *grpc.ServiceDesc {
	with := *desc
	with.Methods = make([]grpc.MethodDesc, len(desc.Methods))
	for i, method := range desc.Methods {
		with.Methods[i] = grpc.MethodDesc{
			MethodName: method.MethodName,
			Handler: func(srv any, ctx context.Context, dec func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
				u := &undecoded{}
				ctx = context.WithValue(ctx, undecodedKey{}, u)
				return method.Handler(srv, ctx, func(m any) error {
					u.message = m
					return dec(u)
				}, chain)
			},
		}
	}
	return &with
}

type undecodedKey struct{}

// decodeErrorFrom is why a unary request could not be decoded; nil where it
// was.
func decodeErrorFrom(ctx context.Context) error {
	if u, ok := ctx.Value(undecodedKey{}).(*undecoded); ok {
		return u.err
	}
	return nil
}

// refuseUndecoded is the refusal of a request that could not be decoded.
func refuseUndecoded(err error, stage string) error {
	if strings.Contains(err.Error(), "UTF-8") {
		return refuse(codes.InvalidArgument, "INVALID_UTF8", stage, nil, "the request holds text that is not UTF-8 (%v); send UTF-8", err)
	}
	return refuse(codes.InvalidArgument, "MALFORMED_REQUEST", stage, nil, "the request cannot be decoded (%v); send what the proto says", err)
}
