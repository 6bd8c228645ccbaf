package question_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	verify = orchestratorv1.Stage_STAGE_VERIFY
	answer = orchestratorv1.Stage_STAGE_ANSWER
)

func begin(req *orchestratorv1.AskRequest, listen question.Listener) *question.Question {
	return question.New(req, &orchestratorv1.Run{Id: "1"}, telemetry.Discard().Tracer(), listen)
}

// costs is a stage that succeeds at a price.
func costs(calls uint32, warnings ...*llmv1.Warning) func(context.Context) (question.Cost, error) {
	return func(context.Context) (question.Cost, error) {
		return &orchestratorv1.StageReport{Usage: &llmv1.Usage{Calls: calls, PromptTokens: 10}, Warnings: warnings}, nil
	}
}

func TestStageAccounts(t *testing.T) {
	q := begin(&orchestratorv1.AskRequest{Limits: &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 5},
		Model: &llmv1.ModelRef{Model: "m"}}}, nil)
	down := status.Error(codes.Unavailable, "down")
	if err := errors.Join(
		q.Stage(t.Context(), verify, costs(2, llm.Warn("w", "x"))),
		q.Stage(t.Context(), answer, func(context.Context) (question.Cost, error) { return question.NoCost, nil }),
	); err != nil {
		t.Fatal(err)
	}
	if err := q.Stage(t.Context(), answer, func(context.Context) (question.Cost, error) {
		return nil,
			down
	}); !errors.Is(err, down) {
		t.Errorf("a failure came back as %v", err)
	}
	run := q.Snapshot()
	if len(run.GetStages()) != 3 || run.GetUsage().GetCalls() != 2 || run.GetUsage().GetPromptTokens() != 10 {
		t.Fatalf("the run is %v", run)
	}
	for i, want := range []string{"w", "", llm.WarnUnavailable} {
		got := ""
		for _, w := range run.GetStages()[i].GetWarnings() {
			got += w.GetCode()
		}
		if got != want || run.GetStages()[i].GetDuration() == nil {
			t.Errorf("stage %d warns of %q, want %q", i, got, want)
		}
	}
	limits, err := q.Limits()
	if err != nil || limits.GetBudget().GetMaxCalls() != 3 || limits.GetModel().GetModel() != "m" {
		t.Errorf("left are %v, %v; want 3 calls of m", limits, err)
	}
	if err := q.Stage(t.Context(), answer, costs(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Limits(); !errors.Is(err, llm.ErrBudget) {
		t.Errorf("a spent budget left %v", err)
	}
}

// purse holds a budget, and counts what is spent from it.
type purse struct {
	left  *llmv1.Budget
	spent uint64
}

func (p *purse) Remaining() (*llmv1.Budget, error) {
	if p.left == nil {
		return nil, fmt.Errorf("the tenant has nothing left: %w", llm.ErrBudget)
	}
	return p.left, nil
}

func (p *purse) Charge(u *llmv1.Usage) { p.spent += u.GetPromptTokens() }

func TestAQuestionIsHeldToItsBudgetAndToItsPurse(t *testing.T) {
	for _, c := range []struct {
		name      string
		own, held *llmv1.Budget
		want      *llmv1.Budget
	}{
		{"neither has a bound", nil, &llmv1.Budget{}, &llmv1.Budget{}},
		{"the purse alone", nil, &llmv1.Budget{MaxTokens: 5, MaxCostUsd: .5},
			&llmv1.Budget{MaxTokens: 5, MaxCostUsd: .5}},
		{"the budget alone", &llmv1.Budget{MaxCalls: 2, MaxTokens: 7}, &llmv1.Budget{},
			&llmv1.Budget{MaxCalls: 2, MaxTokens: 7}},
		{"the smaller of both", &llmv1.Budget{MaxTokens: 7, MaxCostUsd: .25},
			&llmv1.Budget{MaxTokens: 5, MaxCostUsd: .5}, &llmv1.Budget{MaxTokens: 5, MaxCostUsd: .25}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &purse{left: c.held}
			q := begin(&orchestratorv1.AskRequest{Limits: &llmv1.Limits{Budget: c.own}}, nil).WithPurse(p)
			limits, err := q.Limits()
			if got := limits.GetBudget(); err != nil || got.GetMaxCalls() != c.want.GetMaxCalls() ||
				got.GetMaxTokens() != c.want.GetMaxTokens() || got.GetMaxCostUsd() != c.want.GetMaxCostUsd() {
				t.Errorf("left are %v, %v; want %v", got, err, c.want)
			}
			if err := q.Stage(t.Context(), answer, costs(1)); err != nil || p.spent != 10 {
				t.Errorf("the purse was charged %d, %v", p.spent, err)
			}
			p.left = nil
			if _, err := q.Limits(); !errors.Is(err, llm.ErrBudget) {
				t.Errorf("an empty purse left %v", err)
			}
		})
	}
}

func TestStageStops(t *testing.T) {
	q := begin(&orchestratorv1.AskRequest{Options: &orchestratorv1.AskOptions{Until: verify}}, nil)
	if err := q.Stage(t.Context(), answer, costs(1)); err != nil {
		t.Errorf("another stage ended with %v", err)
	}
	if err := q.Stage(t.Context(), verify, costs(1)); !errors.Is(err, question.ErrStopped) {
		t.Errorf("the stage to stop after ended with %v", err)
	}
	down := errors.New("down")
	if err := q.Stage(t.Context(), verify, func(context.Context) (question.Cost, error) {
		return nil,
			down
	}); !errors.Is(err, down) {
		t.Errorf("the stage to stop after failed with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun := false
	err := q.Stage(ctx, answer, func(context.Context) (question.Cost, error) {
		begun = true
		return question.NoCost,
			nil
	})
	if !errors.Is(err, context.Canceled) || begun {
		t.Errorf("after the caller left a stage began: %v, %v", begun, err)
	}
}

func TestEventsTellOfEachStageInOrder(t *testing.T) {
	var got []string
	q := begin(&orchestratorv1.AskRequest{}, func(e *orchestratorv1.AskStreamResponse) {
		switch event := e.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageStarted:
			got = append(got, "start "+config.EnumName(event.StageStarted.GetStage()))
		case *orchestratorv1.AskStreamResponse_StageFinished:
			got = append(got, fmt.Sprint("finish ", config.EnumName(event.StageFinished.GetReport().GetStage()),
				" with ",
				event.StageFinished.GetRun().GetText()))
		case *orchestratorv1.AskStreamResponse_AnswerDelta:
			got = append(got, "delta "+event.AnswerDelta)
		}
	})
	if !q.Streaming() {
		t.Error("somebody listens, but it is not streaming")
	}
	err := q.Stage(t.Context(), answer, func(context.Context) (question.Cost, error) {
		q.Delta("{x}")
		q.Update(func(r *orchestratorv1.Run) { r.Text = "{x}" })
		return question.NoCost, nil
	})
	want := []string{"start answer", "delta x", "finish answer with {x}"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("told %q, %v; want %q", got, err, want)
	}
}

// Run with -race.
func TestStagesMayRunInParallel(t *testing.T) {
	var mu sync.Mutex
	events := 0
	q := begin(&orchestratorv1.AskRequest{},
		func(*orchestratorv1.AskStreamResponse) { mu.Lock(); events++; mu.Unlock() })
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			err := q.Stage(t.Context(), verify, func(context.Context) (question.Cost, error) {
				q.Update(func(r *orchestratorv1.Run) { r.Text += fmt.Sprint(i) })
				return costs(1)(t.Context())
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if run := q.Snapshot(); run.GetUsage().GetCalls() != 8 || len(run.GetStages()) != 8 || len(run.GetText()) != 8 ||
		events != 16 {
		t.Errorf("%d events, run %v", events, run)
	}
}

func TestASnapshotIsACopy(t *testing.T) {
	q := begin(&orchestratorv1.AskRequest{}, nil)
	before := q.Snapshot()
	q.Update(func(r *orchestratorv1.Run) { r.Text = "later" })
	if before.GetText() != "" || q.Snapshot().GetText() != "later" {
		t.Error("a snapshot changed with the run")
	}
}

func withReason(t *testing.T, code codes.Code, reason string) error {
	t.Helper()
	s, err := status.New(code, "said by a stage").WithDetails(&errdetails.ErrorInfo{Reason: reason})
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name       string
		err        error
		survivable bool
		budget     bool
		why        string
	}{
		{"a budget that ran out here", fmt.Errorf("x: %w", llm.ErrBudget), true, true, "the budget ran out"},
		{"a budget that ran out in a stage", withReason(t, codes.ResourceExhausted,
			errinfo.Name(errorsv1.ErrorReason_ERROR_REASON_BUDGET_EXHAUSTED)), true, true,
			"the budget ran out"},
		{"a queue that is full", withReason(t, codes.ResourceExhausted, "TOO_MANY_REQUESTS"), true, false,
			"said by a stage"},
		{"a stage that is down", status.Error(codes.Unavailable, "down"), true, false, "down"},
		{"a deadline of ours", context.DeadlineExceeded, true, false, "the time ran out"},
		{"a deadline of a stage", status.Error(codes.DeadlineExceeded, "x"), true, false, "the time ran out"},
		{"a refused key", status.Error(codes.FailedPrecondition, "check the key"), true, false, "check the key"},
		{"a caller that left", context.Canceled, false, false, "context canceled"},
		{"a caller that left, as a stage sees it", status.Error(codes.Canceled, "left"), false, false, "left"},
		{"a question that cannot be", status.Error(codes.InvalidArgument, "bad"), false, false, "bad"},
		{"a knowledge graph that is not there", status.Error(codes.NotFound, "none"), false, false, "none"},
		{"the stage to stop after", question.ErrStopped, false, false, question.ErrStopped.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			if question.Recoverable(t.Context(), c.err) != c.survivable || question.OutOfBudget(c.err) != c.budget ||
				question.FailureReason(c.err) != c.why {
				t.Errorf("survivable %v, out of budget %v, why %q", question.Recoverable(t.Context(), c.err),
					question.OutOfBudget(c.err), question.FailureReason(c.err))
			}
		})
	}
	if question.Recoverable(t.Context(), nil) || question.OutOfBudget(nil) {
		t.Error("no error is a failure")
	}
}

func TestNothingIsSurvivedForACallerThatLeft(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	for _, err := range []error{status.Error(codes.Unavailable, "down"), context.DeadlineExceeded, llm.ErrBudget} {
		if question.Recoverable(ctx, err) {
			t.Errorf("%v is survived", err)
		}
	}
}
