package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Kinds of errors, for errors.Is.
var (
	// ErrBudget: the ledger's budget is spent. RESOURCE_EXHAUSTED.
	ErrBudget = errors.New("budget spent")
	// ErrUnusable: the model answered, but the answer is unusable. INTERNAL if it reaches a user:
	// stages degrade instead.
	ErrUnusable = errors.New("unusable model output")
	// ErrCut: the answer was truncated before its first word, such as that of a reasoning model that
	// used up the request's tokens. The error is ErrUnusable too.
	ErrCut = errors.New("answer cut before its first word")
	// ErrUnavailable: the endpoint is down, broken or does not answer in time. UNAVAILABLE.
	ErrUnavailable = errors.New("model endpoint unavailable")
	// ErrRateLimited: the endpoint limits the rate of calls. RESOURCE_EXHAUSTED.
	ErrRateLimited = errors.New("model endpoint is rate limited")
	// ErrRefused: the endpoint refuses the key, the model or the request; a setting must change.
	// FAILED_PRECONDITION.
	ErrRefused = errors.New("model endpoint refuses the request")
	// ErrPromptTooLong: the prompt is longer than the model's context. FAILED_PRECONDITION.
	ErrPromptTooLong = errors.New("prompt is longer than the model's context")
	// ErrModelNotAllowed: the caller names a model that is not configured, or has no price under a
	// budget in US dollars. INVALID_ARGUMENT.
	ErrModelNotAllowed = errors.New("model not allowed")
)

// Error is a failed call. It wraps one of the errors above, or the context's.
// Its text contains no key and no password.
type Error struct {
	kind  error
	text  string
	cause error
	// retryAfter is how long the endpoint asks not to be called.
	retryAfter time.Duration
	// retryable: another attempt at the same endpoint may succeed.
	retryable bool
	// interrupted: pieces of the answer went to the caller before the failure.
	interrupted bool
	// misconfigured: the endpoint refuses every request; one of its settings is wrong.
	misconfigured bool
	// slow: the caller's deadline passed although the endpoint had had enough time.
	slow bool
	// preempted: the endpoint was abandoned to leave time for the next one.
	preempted bool
	// status and response are the endpoint's HTTP status and message, in lower case.
	status   int
	response string
}

// Error says which call failed, why, and what to do next.
func (e *Error) Error() string { return e.text }

// Status returns the endpoint's HTTP status; 0 if it sent none.
func (e *Error) Status() int { return e.status }

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

// GRPCStatus returns a status with ErrorInfo.
func (e *Error) GRPCStatus() *status.Status {
	code, reason := codes.Unknown, errorsv1.ErrorReason_ERROR_REASON_MODEL_CALL_FAILED
	for _, k := range errorKinds {
		if errors.Is(e.kind, k.err) {
			code, reason = k.code, k.reason
			break
		}
	}
	s := status.New(code, e.text)
	if d, err := s.WithDetails(errinfo.New(reason, nil)); err == nil {
		return d
	}
	return s
}

// errorKinds maps errors to gRPC codes and ErrorInfo reasons.
var errorKinds = []struct {
	err    error
	code   codes.Code
	reason errorsv1.ErrorReason
}{
	{ErrBudget, codes.ResourceExhausted, errorsv1.ErrorReason_ERROR_REASON_BUDGET_EXHAUSTED},
	{ErrUnusable, codes.Internal, errorsv1.ErrorReason_ERROR_REASON_MODEL_OUTPUT_UNUSABLE},
	{ErrUnavailable, codes.Unavailable, errorsv1.ErrorReason_ERROR_REASON_MODEL_UNAVAILABLE},
	{ErrRateLimited, codes.ResourceExhausted, errorsv1.ErrorReason_ERROR_REASON_MODEL_RATE_LIMITED},
	{ErrRefused, codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_MODEL_REFUSED},
	{ErrPromptTooLong, codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_PROMPT_TOO_LONG},
	{ErrModelNotAllowed, codes.InvalidArgument, errorsv1.ErrorReason_ERROR_REASON_MODEL_NOT_ALLOWED},
	{context.DeadlineExceeded, codes.DeadlineExceeded, errorsv1.ErrorReason_ERROR_REASON_DEADLINE},
	{context.Canceled, codes.Canceled, errorsv1.ErrorReason_ERROR_REASON_CANCELLED},
}

func errorf(kind error, format string, args ...any) *Error {
	return &Error{kind: kind, text: fmt.Sprintf(format, args...)}
}

// retry marks an error as retryable.
func (e *Error) retry() *Error {
	e.retryable = true
	return e
}

// contextError returns the end of the caller's context during an operation.
func contextError(ctx context.Context, operation string) *Error {
	kind := context.Canceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = context.DeadlineExceeded
	}
	return errorf(kind, "%s: %v", operation, kind)
}

// Codes of the warnings of stages.
const (
	// WarnUnusable: a model's output was unusable; the stage continued without it.
	WarnUnusable = "unusable_output"
	// WarnTruncated: a model's output was truncated; the stage used what there was.
	WarnTruncated = "truncated_output"
	// WarnDropped: a part of a model's output was dropped.
	WarnDropped = "dropped_output"
	// WarnBudget: a budget was exhausted.
	WarnBudget = "budget_exhausted"
	// WarnUnavailable: a stage or a model endpoint did not answer.
	WarnUnavailable = "unavailable"
	// WarnShortened: the input was too long for a prompt; its most relevant part was used.
	WarnShortened = "shortened_input"
	// WarnUnknown: a knowledge graph does not contain the requested entity.
	WarnUnknown = "unknown_entity"
)

// Warn returns a warning: what happened, to what, and what was done instead.
func Warn(code, format string, args ...any) *llmv1.Warning {
	return &llmv1.Warning{Code: code, Message: fmt.Sprintf(format, args...)}
}

// maxRetryAfter bounds what a server may ask for: a probe after it costs nothing.
const maxRetryAfter = 10 * time.Minute

// parseRetryAfter returns how long a server asks not to be called; 0 if it does not say. It reads
// OpenAI's retry-after-ms, or Retry-After in seconds or as a date (RFC 9110, 10.2.3), by the
// server's own clock if it sends Date. Some servers send fractions or units.
func parseRetryAfter(h http.Header) time.Duration {
	now := time.Now()
	if t, err := http.ParseTime(h.Get("Date")); err == nil {
		now = t
	}
	if n, ok := parseNumber(h.Get("Retry-After-Ms")); ok {
		return clampRetryAfter(n / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, ok := parseNumber(v); ok {
		return clampRetryAfter(n)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return clampRetryAfter(d.Seconds())
	}
	if t, err := http.ParseTime(v); err == nil {
		return clampRetryAfter(t.Sub(now).Seconds())
	}
	return 0
}

// parseNumber accepts numbers of any size.
func parseNumber(v string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if math.IsNaN(n) || err != nil && !math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

func clampRetryAfter(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), maxRetryAfter.Seconds()) * float64(time.Second))
}
