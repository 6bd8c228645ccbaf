package server

import (
	"cmp"
	"context"
	"strings"

	rules "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	validator "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/protovalidate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// validate validates every received message by the rules of its proto, with the middleware's
// interceptors. It decodes unary requests first and refuses those that it cannot decode. Violations are
// reported as field violations with an ErrorInfo.
func validate(v protovalidate.Validator, stage string) (link, error) {
	if v == nil {
		var err error
		if v, err = protovalidate.New(); err != nil {
			return link{}, err
		}
	}
	unary, stream := validator.UnaryServerInterceptor(v), validator.StreamServerInterceptor(v)
	return link{
		name: "validation",
		unary: func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if err := decodeRequest(ctx, stage); err != nil {
				return nil, err
			}
			resp, err := unary(ctx, req, info, handler)
			return resp, fieldViolations(err, req, stage)
		},
		stream: func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			return stream(srv, decodingStream{ss, stage}, info, func(srv any, ss grpc.ServerStream) error {
				return handler(srv, violationsStream{ss, stage})
			})
		},
	}, nil
}

// decodingStream refuses messages that cannot be decoded.
type decodingStream struct {
	grpc.ServerStream
	stage string
}

func (s decodingStream) RecvMsg(m any) error {
	u := &undecoded{message: m}
	if err := s.ServerStream.RecvMsg(u); err != nil {
		return err
	}
	if u.err != nil {
		return refuseUndecoded(u.err, s.stage)
	}
	return nil
}

// violationsStream reports violations as fieldViolations does.
type violationsStream struct {
	grpc.ServerStream
	stage string
}

func (s violationsStream) RecvMsg(m any) error {
	return fieldViolations(s.ServerStream.RecvMsg(m), m, s.stage)
}

// fieldViolations converts the middleware's error for an invalid message to this mesh's form, and
// returns all other errors unchanged.
func fieldViolations(err error, m any, stage string) error {
	violations := violationsOf(err)
	msg, ok := m.(proto.Message)
	if violations == nil || !ok {
		return err
	}
	name := string(msg.ProtoReflect().Descriptor().Name())
	detail := &errdetails.BadRequest{}
	var texts []string
	for _, v := range violations.GetViolations() {
		if strings.Contains(v.GetMessage(), "[a-z][a-z0-9_-]{0,62}") { // a name of a knowledge graph
			v.Message = proto.String("is no name: write at most 63 lower-case letters, digits, - and _, a letter first")
		}
		field, text := protovalidate.FieldPathString(v.GetField()), v.GetMessage()
		if field != "" {
			text = field + ": " + text
		}
		detail.FieldViolations = append(detail.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field: cmp.Or(field, name), Description: v.GetMessage(), Reason: v.GetRuleId(),
		})
		texts = append(texts, text)
	}
	return refuse(codes.InvalidArgument, errorsv1.ErrorReason_ERROR_REASON_INVALID_REQUEST, stage,
		[]protoadapt.MessageV1{detail}, "%s: %s", name, strings.Join(texts, "; "))
}

// violationsOf returns the violations that the middleware attached to its error. Errors of handlers
// have none.
func violationsOf(err error) *rules.Violations {
	if status.Code(err) != codes.InvalidArgument {
		return nil
	}
	for _, detail := range status.Convert(err).Details() {
		if v, ok := detail.(*rules.Violations); ok {
			return v
		}
	}
	return nil
}
