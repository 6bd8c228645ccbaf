package question

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
)

// OutOfBudget tells whether a stage ended for want of budget.
func OutOfBudget(err error) bool {
	if errors.Is(err, llm.ErrBudget) {
		return true
	}
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetReason() == llm.ReasonBudget {
			return true
		}
	}
	return false
}

// Survivable tells whether a method may answer with what it has after this
// error: a budget or the time ran out, or a stage or its model is down. What
// is wrong with the question itself is not survivable, nor that the caller
// went away: ctx is theirs, and tells of it also where the error that it came
// with says something else.
func Survivable(ctx context.Context, err error) bool {
	switch {
	case err == nil, errors.Is(err, ErrUntil), errors.Is(err, context.Canceled), errors.Is(ctx.Err(), context.Canceled):
		return false
	case errors.Is(err, context.DeadlineExceeded), OutOfBudget(err):
		return true
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal, codes.Unknown, codes.FailedPrecondition:
		return true
	}
	return false
}

// Why is an error in a sentence for the caller.
func Why(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded:
		return "the time ran out"
	case OutOfBudget(err):
		return "the budget ran out"
	}
	return status.Convert(err).Message()
}
