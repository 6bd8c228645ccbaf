package server

import (
	"context"
	"errors"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

// validation checks every message that comes in by the rules in its proto.
type validation struct {
	validator protovalidate.Validator
	stage     string
}

func newValidation(v protovalidate.Validator, stage string) (*validation, error) {
	if v == nil {
		var err error
		if v, err = protovalidate.New(); err != nil {
			return nil, err
		}
	}
	return &validation{v, stage}, nil
}

func (v *validation) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := decodeErrorFrom(ctx); err != nil {
		return nil, refuseUndecoded(err, v.stage)
	}
	if err := v.check(req); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (v *validation) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if housekeeping(info.FullMethod) {
		return handler(srv, ss)
	}
	return handler(srv, validStream{ss, v})
}

type validStream struct {
	grpc.ServerStream
	v *validation
}

func (s validStream) RecvMsg(m any) error {
	u := &undecoded{message: m}
	if err := s.ServerStream.RecvMsg(u); err != nil {
		return err
	}
	if u.err != nil {
		return refuseUndecoded(u.err, s.v.stage)
	}
	return s.v.check(m)
}

func (v *validation) check(m any) error {
	msg, ok := m.(proto.Message)
	if !ok {
		return nil
	}
	err := v.validator.Validate(msg)
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	detail := &errdetails.BadRequest{}
	var said []string
	for _, violation := range invalid.Violations {
		field := protovalidate.FieldPathString(violation.Proto.GetField())
		if field == "" {
			field = string(msg.ProtoReflect().Descriptor().Name())
		}
		detail.FieldViolations = append(detail.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field: field, Description: violation.Proto.GetMessage(), Reason: violation.Proto.GetRuleId(),
		})
		said = append(said, field+": "+violation.Proto.GetMessage())
	}
	return refuse(codes.InvalidArgument, "INVALID_REQUEST", v.stage, []protoadapt.MessageV1{detail},
		"%s: %s", msg.ProtoReflect().Descriptor().Name(), strings.Join(said, "; "))
}
