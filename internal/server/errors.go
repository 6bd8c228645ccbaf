package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
)

// errorDomain is the domain of every ErrorInfo that is made here.
const errorDomain = "triplemesh"

// maxMessage bounds a status message in bytes: it travels in a header.
const maxMessage = 4096

// statusError is what domain errors implement to choose their status.
type statusError interface{ GRPCStatus() *status.Status }

// mappedError is what the caller sees of an error, a status with an ErrorInfo,
// and the error itself for the log; nil where that is all there is to know. The
// reason stands beside the status, as reading it there is dear, and every
// refusal under overload is read several times.
type mappedError struct {
	status *status.Status
	reason string
	cause  error
}

func (e *mappedError) Error() string              { return e.status.Err().Error() }
func (e *mappedError) GRPCStatus() *status.Status { return e.status }
func (e *mappedError) Unwrap() error              { return e.cause }

// mapErrors gives every error a status with an ErrorInfo.
func mapErrors(stage string) around {
	return func(ctx context.Context, _ string, next func(context.Context) error) error {
		err := next(ctx)
		if err == nil {
			return nil
		}
		mapped := mapError(err, stage, telemetry.RequestID(ctx))
		if mapped.status.Code() == codes.Unavailable {
			// What is unavailable lies behind this server, and has been tried
			// again there. A caller that tried again too would multiply.
			_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
		}
		return mapped
	}
}

// mapError keeps the status that a domain error or a called service chose,
// through any wrapping. What has none is INTERNAL, and its text stays here.
func mapError(err error, stage, requestID string) *mappedError {
	var refused *mappedError
	var chosen statusError
	switch {
	case errors.As(err, &refused):
		return &mappedError{refused.status, refused.reason, err}
	case errors.As(err, &chosen) && chosen.GRPCStatus().Code() != codes.OK:
		return mapped(chosen.GRPCStatus(), "", stage, err)
	case errors.Is(err, context.Canceled):
		return mapped(status.New(codes.Canceled, "the caller went away"), "", stage, err)
	case errors.Is(err, context.DeadlineExceeded):
		return mapped(status.New(codes.DeadlineExceeded, "the deadline passed while the answer was being made"), "", stage, err)
	}
	reason := "INTERNAL"
	var p *panicError
	if errors.As(err, &p) {
		reason = "PANIC"
	}
	return mapped(status.Newf(codes.Internal,
		"internal error in the %s; its log has the details under request_id %s", stage, requestID), reason, stage, err)
}

// refuse is the error of a request that an interceptor turns away.
func refuse(c codes.Code, reason, stage string, details []protoadapt.MessageV1, format string, args ...any) error {
	return mapped(status.New(c, fmt.Sprintf(format, args...)), reason, stage, nil, details...)
}

// mapped is an error as a status that fits into a header and has an ErrorInfo,
// which is added, with further details, where there is none. An empty reason
// takes the code's name.
func mapped(st *status.Status, reason, stage string, cause error, details ...protoadapt.MessageV1) *mappedError {
	proto := st.Proto()
	if fitting := strings.ToValidUTF8(proto.GetMessage()[:min(len(proto.GetMessage()), maxMessage)], ""); fitting != proto.GetMessage() {
		proto.Message = fitting
		st = status.FromProto(proto)
	}
	if info := infoOf(proto); info != nil {
		return &mappedError{st, info.GetReason(), cause}
	}
	if reason == "" {
		reason = codeName(st.Code())
	}
	details = append(details, &errdetails.ErrorInfo{
		Domain: errorDomain, Reason: reason, Metadata: map[string]string{"stage": stage},
	})
	// What cannot be encoded is left out rather than the whole status.
	if with, err := st.WithDetails(details...); err == nil {
		st = with
	}
	return &mappedError{st, reason, cause}
}

func infoOf(st *spb.Status) *errdetails.ErrorInfo {
	for _, detail := range st.GetDetails() {
		info := &errdetails.ErrorInfo{}
		if detail.MessageIs(info) && detail.UnmarshalTo(info) == nil {
			return info
		}
	}
	return nil
}

// reasonOf is the reason in the ErrorInfo of a mapped error; empty where there
// is none.
func reasonOf(err error) string {
	var m *mappedError
	if errors.As(err, &m) {
		return m.reason
	}
	return ""
}

// codeName is a code as the specification writes it, "INVALID_ARGUMENT".
func codeName(c codes.Code) string { return code.Code(c).String() }
