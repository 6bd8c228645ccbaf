package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What can go wrong, for errors.Is.
var (
	// ErrBudget: the ledger has nothing left. RESOURCE_EXHAUSTED.
	ErrBudget = errors.New("budget spent")
	// ErrUnusable: the model answered, with nothing that can be used. INTERNAL,
	// should it ever reach a user: stages go on with less instead.
	ErrUnusable = errors.New("unusable model output")
	// ErrUnavailable: the endpoint is down, broken or does not answer. UNAVAILABLE.
	ErrUnavailable = errors.New("model endpoint unavailable")
	// ErrRateLimited: the endpoint says that it had too many calls.
	// RESOURCE_EXHAUSTED.
	ErrRateLimited = errors.New("model endpoint is rate limited")
	// ErrRefused: the endpoint refuses the key, the model or the request; a
	// setting must change. FAILED_PRECONDITION.
	ErrRefused = errors.New("model endpoint refuses the request")
	// ErrPromptTooLong: the prompt is longer than the model's context.
	// FAILED_PRECONDITION.
	ErrPromptTooLong = errors.New("prompt is longer than the model's context")
)

// ReasonBudget is the ErrorInfo reason of ErrBudget, by which a caller on the
// other side of a gRPC hop knows it.
const ReasonBudget = "BUDGET_EXHAUSTED"

// Error is a failed call. It wraps one of the errors above, or the context's.
// Its text holds no key and no password.
type Error struct {
	kind  error
	what  string
	cause error
	// retryAfter is how long the endpoint wants to be left alone.
	retryAfter time.Duration
	// retryable errors may go away when the same endpoint is asked again.
	retryable bool
	// broken off after pieces of the answer went to the caller.
	broken bool
	// misplaced is a refusal of whoever asks, not of what is asked: a setting of
	// the endpoint is wrong.
	misplaced bool
	// late is a caller's patience that ended although the endpoint had had enough
	// of it.
	late bool
	// hurried is an endpoint that was left for the next one, which would have had
	// no time otherwise.
	hurried bool
	// status and said are the endpoint's HTTP status and words, in lower case.
	status int
	said   string
}

// Error says what was done, to what, what is wrong and what to do next.
func (e *Error) Error() string { return e.what }

// Status is the endpoint's HTTP status; 0 where it gave none.
func (e *Error) Status() int { return e.status }

// Unwrap gives errors.Is the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

// GRPCStatus makes the error a gRPC status with ErrorInfo.
func (e *Error) GRPCStatus() *status.Status {
	code, reason := codes.Unknown, "MODEL_CALL_FAILED"
	for _, k := range kinds {
		if errors.Is(e.kind, k.err) {
			code, reason = k.code, k.reason
			break
		}
	}
	s := status.New(code, e.what)
	if d, err := s.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "triplemesh"}); err == nil {
		return d
	}
	return s
}

var kinds = []struct {
	err    error
	code   codes.Code
	reason string
}{
	{ErrBudget, codes.ResourceExhausted, ReasonBudget},
	{ErrUnusable, codes.Internal, "MODEL_OUTPUT_UNUSABLE"},
	{ErrUnavailable, codes.Unavailable, "MODEL_UNAVAILABLE"},
	{ErrRateLimited, codes.ResourceExhausted, "MODEL_RATE_LIMITED"},
	{ErrRefused, codes.FailedPrecondition, "MODEL_REFUSED"},
	{ErrPromptTooLong, codes.FailedPrecondition, "PROMPT_TOO_LONG"},
	{context.DeadlineExceeded, codes.DeadlineExceeded, "DEADLINE"},
	{context.Canceled, codes.Canceled, "CANCELLED"},
}

func failf(kind error, format string, args ...any) *Error {
	return &Error{kind: kind, what: fmt.Errorf(format, args...).Error()}
}

// contextError is the caller's end of patience, told with what it waited for.
func contextError(ctx context.Context, waited string) *Error {
	kind := context.Canceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = context.DeadlineExceeded
	}
	return &Error{kind: kind, what: fmt.Sprintf("%s: %v", waited, kind)}
}
