package eval

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// RefusedError is what the services say to an evaluation that they cannot run
// at all: of a method or a knowledge graph that they do not have, or with an
// option that the method does not have.
type RefusedError struct{ cause error }

func (e *RefusedError) Error() string {
	text := status.Convert(e.cause).Message()
	for _, v := range violations(e.cause) {
		if !strings.Contains(text, v.GetDescription()) {
			text += fmt.Sprintf("; %s: %s", v.GetField(), v.GetDescription())
		}
	}
	return text
}

// isRefusal reports whether an error is about the method, its options or the
// knowledge graph, and not about the question.
func isRefusal(err error) bool {
	switch status.Code(err) {
	case codes.NotFound:
		return true
	case codes.InvalidArgument:
		return !slices.ContainsFunc(violations(err), func(v *errdetails.BadRequest_FieldViolation) bool {
			field, _, _ := strings.Cut(v.GetField(), "[")
			return field == "question" || field == "topic_entities" || field == "relation_paths"
		})
	}
	return false
}

func violations(err error) []*errdetails.BadRequest_FieldViolation {
	var out []*errdetails.BadRequest_FieldViolation
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			out = append(out, bad.GetFieldViolations()...)
		}
	}
	return out
}

// unwritableError is that of a disk that takes no more.
type unwritableError struct{ cause error }

func (e *unwritableError) Error() string {
	return e.cause.Error() + "; make room, then give the same command again"
}

func (e *unwritableError) Unwrap() error { return e.cause }

// count gives up where failures in a row are not the questions' own.
func (r *runner) count(err error) error {
	switch status.Code(err) {
	case codes.Unavailable, codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented,
		codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.DataLoss:
		r.inARow++
		r.why = err
	default:
		r.inARow = 0
	}
	if r.inARow >= giveUpAfter {
		return r.unanswerable()
	}
	return nil
}

func (r *runner) unanswerable() error {
	s := status.Convert(r.why)
	next := "mend that, then give the same command again"
	if s.Code() == codes.Unavailable {
		next = `see "triplemesh doctor", start what is missing with "triplemesh up", then give the same command again`
	}
	return fmt.Errorf("%d questions in a row failed, the last with %s: %s; %s", r.inARow, s.Code(), s.Message(), next)
}
