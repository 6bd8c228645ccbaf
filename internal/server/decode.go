package server

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// gRPC decodes the message of a unary RPC before any interceptor, and ends an RPC whose message it
// cannot decode as INTERNAL. So messages are received into an undecoded. The validation, the last
// link of the chain, decodes it: nothing is decoded for a caller who is unknown or not admitted, and
// the chain counts and logs a message that cannot be decoded like any other.
type undecoded struct {
	message any
	err     error
	decode  func(any) error // of gRPC; nil once it was called
}

// codec is gRPC's proto codec with support for undecoded.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if u, ok := v.(*undecoded); ok {
		u.err = c.CodecV2.Unmarshal(data, u.message)
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}

// withLateDecoding passes the unary requests of a service to the chain undecoded.
func withLateDecoding(desc *grpc.ServiceDesc) *grpc.ServiceDesc {
	with := *desc
	with.Methods = make([]grpc.MethodDesc, len(desc.Methods))
	for i, method := range desc.Methods {
		with.Methods[i] = grpc.MethodDesc{
			MethodName: method.MethodName,
			Handler: func(srv any, ctx context.Context, dec func(any) error, chain grpc.UnaryServerInterceptor) (any,
				error) {
				u := &undecoded{}
				ctx = context.WithValue(ctx, undecodedKey{}, u)
				return method.Handler(srv, ctx, func(m any) error {
					u.message, u.decode = m, dec
					return nil
				}, chain)
			},
		}
	}
	return &with
}

type undecodedKey struct{}

// decodeRequest decodes the unary request of ctx in place.
func decodeRequest(ctx context.Context, stage string) error {
	u, ok := ctx.Value(undecodedKey{}).(*undecoded)
	if !ok {
		return nil
	}
	if u.decode != nil {
		if err := u.decode(u); err != nil {
			return err
		}
		u.decode = nil
	}
	if u.err != nil {
		return refuseUndecoded(u.err, stage)
	}
	return nil
}

// refuseUndecoded returns the status for a decode error.
func refuseUndecoded(err error, stage string) error {
	if strings.Contains(err.Error(), "UTF-8") {
		return refuse(codes.InvalidArgument, errorsv1.ErrorReason_ERROR_REASON_INVALID_UTF8, stage, nil,
			"the request holds text that is not UTF-8 (%v); send UTF-8", err)
	}
	return refuse(codes.InvalidArgument, errorsv1.ErrorReason_ERROR_REASON_MALFORMED_REQUEST, stage, nil,
		"the request cannot be decoded (%v); send what the proto says", err)
}
