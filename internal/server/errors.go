package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
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

// mappedError is what the caller sees of an error, and the error itself for
// the log.
type mappedError struct {
	status *status.Status
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
		st := toStatus(err, stage, telemetry.RequestID(ctx))
		if st.Code() == codes.Unavailable {
			// What is unavailable lies behind this server, and has been tried
			// again there. A caller that tried again too would multiply.
			_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
		}
		return &mappedError{status: st, cause: err}
	}
}

// toStatus keeps the status that a domain error or a called service chose,
// through any wrapping. What has none is INTERNAL, and its text stays here.
func toStatus(err error, stage, requestID string) *status.Status {
	var chosen statusError
	switch {
	case errors.As(err, &chosen) && chosen.GRPCStatus().Code() != codes.OK:
		return withInfo(chosen.GRPCStatus(), "", stage)
	case errors.Is(err, context.Canceled):
		return withInfo(status.New(codes.Canceled, "the caller went away"), "", stage)
	case errors.Is(err, context.DeadlineExceeded):
		return withInfo(status.New(codes.DeadlineExceeded, "the deadline passed while the answer was being made"), "", stage)
	}
	reason := "INTERNAL"
	var p *panicError
	if errors.As(err, &p) {
		reason = "PANIC"
	}
	return withInfo(status.Newf(codes.Internal,
		"internal error in the %s; its log has the details under request_id %s", stage, requestID), reason, stage)
}

// withInfo adds an ErrorInfo where there is none. An empty reason takes the
// code's name.
func withInfo(st *status.Status, reason, stage string) *status.Status {
	if reason == "" {
		reason = codeName(st.Code())
	}
	proto := st.Proto()
	proto.Message = strings.ToValidUTF8(proto.GetMessage()[:min(len(proto.GetMessage()), maxMessage)], "")
	st = status.FromProto(proto)
	if infoOf(st) != nil {
		return st
	}
	return withDetails(st, &errdetails.ErrorInfo{
		Domain: errorDomain, Reason: reason, Metadata: map[string]string{"stage": stage},
	})
}

// refuse is the error of a request that an interceptor turns away.
func refuse(c codes.Code, reason, stage string, details []protoadapt.MessageV1, format string, args ...any) error {
	st := withInfo(status.New(c, fmt.Sprintf(format, args...)), reason, stage)
	return withDetails(st, details...).Err()
}

// withDetails leaves out what cannot be encoded rather than the whole status.
func withDetails(st *status.Status, details ...protoadapt.MessageV1) *status.Status {
	if with, err := st.WithDetails(details...); err == nil {
		return with
	}
	return st
}

func infoOf(st *status.Status) *errdetails.ErrorInfo {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

// reasonOf is the reason in a status's ErrorInfo; empty where there is none.
func reasonOf(st *status.Status) string { return infoOf(st).GetReason() }

// codeName is a code as the specification writes it, "INVALID_ARGUMENT".
func codeName(c codes.Code) string { return code.Code(c).String() }
