package eval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/llm"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Waiting for services that have too much to do: how long the first pause is
// if they do not say, how long one may be, and how long a question waits in
// all.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
	patience     = 5 * time.Minute
)

// busyError says that services had too much to do for longer than a question
// waits. It is no answer to the question.
type busyError struct {
	waited time.Duration
	cause  error
}

func (e *busyError) Error() string {
	s := status.Convert(e.cause)
	return fmt.Sprintf("after %v of waiting it is still %s: %s; give the same command again when there is less to "+
		"do, or with a smaller --parallel", e.waited.Round(time.Second), s.Code(), s.Message())
}

// pauseAfter returns how long to wait before a question that was turned away is
// asked again; false where an error is an answer to the question. Turned away
// is what services say with RetryInfo, what a model server with too many calls
// says, and one that does not answer.
func pauseAfter(err error, try int) (time.Duration, bool) {
	code := status.Code(err)
	if code != codes.ResourceExhausted && code != codes.Unavailable {
		return 0, false
	}
	for _, detail := range status.Convert(err).Details() {
		if retry, ok := detail.(*errdetails.RetryInfo); ok {
			return max(retry.GetRetryDelay().AsDuration(), 10*time.Millisecond), true
		}
	}
	var without *starvedError
	busy := errors.As(err, &without)
	switch errinfo.Reason(err) {
	case errorsv1.ErrorReason_ERROR_REASON_MODEL_RATE_LIMITED, errorsv1.ErrorReason_ERROR_REASON_MODEL_UNAVAILABLE:
		busy = true
	}
	return min(firstPause<<min(try, 10), longestPause), busy
}

// starved returns the error of a run that had to do without a stage that could not be
// reached: what it lacks is not the method's fault, so it counts as not answered
// and is asked again, for which what it has comes from the cache. nil of a run
// that lacks nothing, or that took most of the time it was given: it ran out of
// that, and would again.
func starved(run *orchestratorv1.Run, timeout time.Duration) error {
	if !run.GetPartial() || run.GetDuration().AsDuration() > timeout/2 {
		return nil
	}
	for _, stage := range run.GetStages() {
		for _, warning := range stage.GetWarnings() {
			if warning.GetCode() == llm.WarnUnavailable {
				return &starvedError{stage.GetStage(), warning.GetMessage()}
			}
		}
	}
	return nil
}

// starvedError says which stage a run had to do without, and why.
type starvedError struct {
	stage orchestratorv1.Stage
	why   string
}

func (e *starvedError) Error() string { return e.GRPCStatus().Message() }

// GRPCStatus returns UNAVAILABLE.
func (e *starvedError) GRPCStatus() *status.Status {
	return status.Newf(codes.Unavailable, "%s was done without: %s", config.EnumName(e.stage), e.why)
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
