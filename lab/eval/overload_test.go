package eval

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/llm"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func detailed(t *testing.T, code codes.Code, details ...protoadapt.MessageV1) error {
	t.Helper()
	s, err := status.New(code, "too much to do").WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}

func reason(text string) *errdetails.ErrorInfo { return &errdetails.ErrorInfo{Reason: text} }

func TestPauseAfter(t *testing.T) {
	t.Parallel()
	told := &errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)}
	for _, c := range []struct {
		name  string
		err   error
		try   int
		pause time.Duration
		again bool
	}{
		{"a service that says when is asked then", detailed(t, codes.ResourceExhausted, reason("TOO_MANY_REQUESTS"),
			told), 0, 7 * time.Second, true},
		{"so is one that is not there", detailed(t, codes.Unavailable, told), 3, 7 * time.Second, true},
		{"a model with too many calls", detailed(t, codes.ResourceExhausted, reason("MODEL_RATE_LIMITED")), 0,
			time.Second, true},
		{"pauses get longer", detailed(t, codes.ResourceExhausted, reason("MODEL_RATE_LIMITED")), 3, 8 * time.Second,
			true},
		{"and no longer than that", detailed(t, codes.Unavailable, reason("MODEL_UNAVAILABLE")), 60,
			longestPause, true},
		{"a budget that is spent stays spent", detailed(t, codes.ResourceExhausted,
			reason(errinfo.Name(errorsv1.ErrorReason_ERROR_REASON_BUDGET_EXHAUSTED))), 0, 0,
			false},
		{"a server that is not there says nothing", status.Error(codes.Unavailable, "connection refused"), 0, 0, false},
		{"other errors are answers", detailed(t, codes.Internal, told), 0, 0, false},
		{"no error", nil, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pause, again := pauseAfter(c.err, c.try)
			if again != c.again || again && pause != c.pause {
				t.Errorf("got %v, %v, want %v, %v", pause, again, c.pause, c.again)
			}
		})
	}
}

// pauses keeps the pauses that a runner makes, and makes none.
type pauses struct {
	mu   sync.Mutex
	made []time.Duration
}

func (p *pauses) pause(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = append(p.made, d)
	return context.Cause(ctx)
}

func TestRunWaitsForABusyModelWithoutCountingAFailure(t *testing.T) {
	t.Parallel()
	asked := 0
	asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		if asked++; asked <= 4 {
			return nil, detailed(t, codes.ResourceExhausted, reason("MODEL_RATE_LIMITED"))
		}
		return rightAnswer(), nil
	}}
	r := newRunner(t, asker, t.TempDir(), nQuestions(2)...)
	var p pauses
	r.pause, r.parallel = p.pause, 1
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if asked != 6 || len(p.made) != 4 || failureOf(r, "a") != nil || !r.journal.IsAnswered("a") {
		t.Errorf("asked %d times with pauses %v, failure %v", asked, p.made, failureOf(r, "a"))
	}
}

func TestRunEndsWhenAModelStaysBusy(t *testing.T) {
	t.Parallel()
	asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		return nil, detailed(t, codes.Unavailable, reason("MODEL_UNAVAILABLE"))
	}}
	r := newRunner(t, asker, t.TempDir(), nQuestions(9)...)
	var p pauses
	r.pause = p.pause
	err := run(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "of waiting it is still Unavailable: too much to do") ||
		!strings.Contains(err.Error(), "0 of 9 questions answered") {
		t.Errorf("error %v", err)
	}
	var sum time.Duration
	for _, d := range p.made {
		sum += d
	}
	if sum > patience || sum < patience/2 {
		t.Errorf("waited %v", sum)
	}
	if _, recorded := r.journal.Record("a"); recorded {
		t.Error("a question that was never answered is kept as a failure")
	}
}

func TestRunStopsWaitingWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		return nil, detailed(t, codes.Unavailable, reason("MODEL_UNAVAILABLE"))
	}}
	r := newRunner(t, asker, "", nQuestions(2)...)
	r.pause = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return sleep(ctx, time.Hour)
	}
	if err := run(ctx, r); err == nil || !strings.Contains(err.Error(), "stopped; give the same command again") {
		t.Errorf("error %v", err)
	}
	if len(asker.questions()) != 1 {
		t.Errorf("asked %v", asker.questions())
	}
}

func TestARunThatTookItsTimeIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	run := rightAnswer()
	run.Partial, run.Duration = true, durationpb.New(time.Minute)
	run.Stages = []*orchestratorv1.StageReport{{Warnings: []*llmv1.Warning{{Code: llm.WarnUnavailable}}}}
	if starved(run, 90*time.Second) != nil || starved(run, 3*time.Minute) == nil {
		t.Error("whether it is asked again does not depend on the time that it had")
	}
}

func TestRunAsksAgainWhatHadToDoWithoutAStage(t *testing.T) {
	t.Parallel()
	poor := func() *orchestratorv1.Run {
		run := rightAnswer()
		run.Partial = true
		run.Usage = &llmv1.Usage{Calls: 2}
		run.Stages = []*orchestratorv1.StageReport{{
			Stage:    orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS,
			Warnings: []*llmv1.Warning{{Code: llm.WarnUnavailable, Message: "the evaluator is away"}},
		}}
		return run
	}
	t.Run("until the stage is there again", func(t *testing.T) {
		t.Parallel()
		asked := 0
		asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
			if asked++; asked <= 4 {
				return poor(), nil
			}
			return rightAnswer(), nil
		}}
		r := newRunner(t, asker, "", nQuestions(1)...)
		if err := run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		record, _ := r.journal.Record("a")
		if asked != 5 || record.Measures == nil || record.Measures.Partial {
			t.Errorf("asked %d times, kept %+v", asked, record.Measures)
		}
		if r.budget.spent.calls != 8 {
			t.Errorf("counted %d calls, want those of all tries, 8", r.budget.spent.calls)
		}
	})
	t.Run("and keeps nothing where it stays away", func(t *testing.T) {
		t.Parallel()
		asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run,
			error) {
			return poor(), nil
		}}
		r := newRunner(t, asker, t.TempDir(), nQuestions(9)...)
		err := run(t.Context(), r)
		if err == nil || !strings.Contains(err.Error(),
			"still Unavailable: evaluate-answers was done without: the evaluator is away") {
			t.Errorf("error %v", err)
		}
		if _, recorded := r.journal.Record("a"); recorded {
			t.Error("a run that lacks a stage is kept as the method's answer")
		}
	})
}
