package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// maxMessage bounds a status message in bytes: it travels in a header.
const maxMessage = 4096

// statusError is what domain errors implement to choose their status.
type statusError interface{ GRPCStatus() *status.Status }

// mappedError is a status with an ErrorInfo, for the caller, and its cause, for the log; nil if
// there is none. The reason is stored beside the status since decoding it is expensive, and
// interceptors read it several times.
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
	return func(ctx context.Context, _ interceptors.CallMeta, next func(context.Context) error) error {
		err := next(ctx)
		if err == nil {
			return nil
		}
		mapped := mapError(err, stage, telemetry.RequestID(ctx))
		if mapped.status.Code() == codes.Unavailable {
			// The server behind this one is unavailable, and calls to it have been retried. A retry
			// of the caller would multiply them.
			_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
		}
		return mapped
	}
}

// mapError keeps the status of a domain error or of a called service, through any wrapping. Other
// errors are INTERNAL, and the caller does not see their text.
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
		return mapped(status.New(codes.DeadlineExceeded, "the deadline passed while the answer was being made"),
			"", stage, err)
	}
	reason := errorsv1.ErrorReason_ERROR_REASON_INTERNAL
	if _, ok := errors.AsType[*recovery.PanicError](err); ok {
		reason = errorsv1.ErrorReason_ERROR_REASON_PANIC
	}
	return mapped(status.Newf(codes.Internal,
		"internal error in the %s; its log has the details under request_id %s", stage, requestID),
		errinfo.Name(reason), stage, err)
}

// refuse returns the error of a request that an interceptor refuses.
func refuse(c codes.Code, reason errorsv1.ErrorReason, stage string, details []protoadapt.MessageV1,
	format string, args ...any) error {
	return mapped(status.New(c, fmt.Sprintf(format, args...)), errinfo.Name(reason), stage, nil, details...)
}

// mapped returns a status that fits into a header and has an ErrorInfo, which it adds together with
// details if it is missing. The default reason is the code's name.
func mapped(st *status.Status, reason, stage string, cause error, details ...protoadapt.MessageV1) *mappedError {
	proto := st.Proto()
	if fitting := strings.ToValidUTF8(proto.GetMessage()[:min(len(proto.GetMessage()), maxMessage)],
		""); fitting != proto.GetMessage() {
		proto.Message = fitting
		st = status.FromProto(proto)
	}
	if info := infoOf(proto); info != nil {
		return &mappedError{st, info.GetReason(), cause}
	}
	reason = cmp.Or(reason, codeName(st.Code()))
	details = append(details, &errdetails.ErrorInfo{
		Domain: errinfo.Domain, Reason: reason, Metadata: map[string]string{"stage": stage},
	})
	// Details that cannot be encoded are dropped.
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

// reasonOf returns the reason in the ErrorInfo of a mapped error, or "".
func reasonOf(err error) string {
	if m, ok := errors.AsType[*mappedError](err); ok {
		return m.reason
	}
	return ""
}

// codeName returns a code as the specification spells it, "INVALID_ARGUMENT".
func codeName(c codes.Code) string { return code.Code(c).String() }

// maxStatusTime bounds the part of an RPC's time, a fiftieth, that is kept for its status: one that
// arrives after the deadline is lost, and with it what the RPC spent.
const maxStatusTime = 250 * time.Millisecond

// guardDeadline refuses RPCs that have no time left, gives a deadline to those without one, and
// shortens that of the others, so that their status arrives.
func guardDeadline(cfg Config, stage string) around {
	return func(ctx context.Context, call interceptors.CallMeta, next func(context.Context) error) error {
		deadline, ok := ctx.Deadline()
		switch {
		case !ok && cfg.Timeout == 0:
			return next(ctx)
		case !ok:
			ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
			defer cancel()
			return next(ctx)
		}
		if left := time.Until(deadline); left <= cfg.MinTimeLeft {
			return refuse(codes.DeadlineExceeded, errorsv1.ErrorReason_ERROR_REASON_NO_TIME_LEFT, stage, nil,
				"%s was not begun: %s left, at least %s needed; ask with a later deadline", call.FullMethod(),
				left.Round(time.Microsecond), cfg.MinTimeLeft)
		}
		ctx, cancel := context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/50, maxStatusTime)))
		defer cancel()
		return next(ctx)
	}
}
