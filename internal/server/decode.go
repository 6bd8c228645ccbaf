package server

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// gRPC decodes a unary request before any interceptor and calls what it cannot
// decode INTERNAL, as if the service were to blame. withDecodeErrors carries
// such an error past the decoding, into the chain, where the validation refuses
// the request and the others count and log it.
func withDecodeErrors(desc *grpc.ServiceDesc) *grpc.ServiceDesc {
	with := *desc
	with.Methods = make([]grpc.MethodDesc, len(desc.Methods))
	for i, method := range desc.Methods {
		with.Methods[i] = grpc.MethodDesc{
			MethodName: method.MethodName,
			Handler: func(srv any, ctx context.Context, dec func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
				failed := new(error)
				ctx = context.WithValue(ctx, decodeErrorKey{}, failed)
				return method.Handler(srv, ctx, func(m any) error {
					*failed = dec(m)
					return nil
				}, chain)
			},
		}
	}
	return &with
}

type decodeErrorKey struct{}

// decodeErrorFrom is why the request could not be read; nil where it was.
func decodeErrorFrom(ctx context.Context) error {
	if failed, ok := ctx.Value(decodeErrorKey{}).(*error); ok {
		return *failed
	}
	return nil
}

// decodeStatus is the refusal of a request that could not be read. Errors of
// the connection, its end among them, stay as they are.
func decodeStatus(err error, stage string) error {
	if errors.Is(err, io.EOF) || status.Code(err) != codes.Internal {
		return err
	}
	text := status.Convert(err).Message()
	if strings.Contains(text, "UTF-8") {
		return refuse(codes.InvalidArgument, "INVALID_UTF8", stage, nil, "the request holds text that is not UTF-8 (%s); send UTF-8", text)
	}
	return refuse(codes.InvalidArgument, "MALFORMED_REQUEST", stage, nil, "the request cannot be decoded (%s); send what the proto says", text)
}
