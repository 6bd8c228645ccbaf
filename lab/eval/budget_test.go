package eval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// dear answers every question right, for 3 calls of 100 tokens and a cent.
func dear(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
	run := rightAnswer()
	run.Usage = &llmv1.Usage{Calls: 3, CachedCalls: 9, PromptTokens: 80, CompletionTokens: 20, CostUsd: 0.01}
	return run, nil
}

func TestBudgetEndsAnEvaluationWithinItsBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		bound  func(*budget)
		asked  int
		reason string
	}{
		{"calls", func(b *budget) { b.calls = 10 }, 3, "--max-calls 10 (9 made)"},
		{"calls that are just enough", func(b *budget) { b.calls = 12 }, 4, "--max-calls 12 (12 made)"},
		{"tokens", func(b *budget) { b.tokens = 250 }, 2, "--max-tokens 250 (200 used)"},
		{"cost", func(b *budget) { b.usd = 0.055 }, 5, "--max-cost 0.055 ($0.0500 spent)"},
		{"the first of several", func(b *budget) { b.calls, b.tokens = 100, 150 }, 1, "--max-tokens 150 (100 used)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asker := &fakeAsker{reply: dear}
			r := newRunner(t, asker, "", nQuestions(9)...)
			c.bound(r.budget)
			err := run(t.Context(), r)
			var stopped *StoppedByBudget
			if !errors.As(err, &stopped) {
				t.Fatalf("error %v", err)
			}
			if got := len(asker.questions()); got != c.asked || stopped.Left != 9-c.asked ||
				r.countAnswered() != c.asked {
				t.Errorf("asked %d questions, %d left, want %d asked", got, stopped.Left, c.asked)
			}
			if !slices.Equal(stopped.Bounds, []string{c.reason}) || !strings.Contains(err.Error(),
				"give the same command again") {
				t.Errorf("error %q, want %q", err, c.reason)
			}
		})
	}
}

func TestBudgetOfTimeBeginsNoQuestionAfterIt(t *testing.T) {
	t.Parallel()
	clock := time.Unix(0, 0)
	asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		clock = clock.Add(time.Minute)
		return rightAnswer(), nil
	}}
	r := newRunner(t, asker, "", nQuestions(9)...)
	r.parallel = 1
	r.budget = &budget{time: 3 * time.Minute, now: func() time.Time { return clock }, started: clock}
	err := run(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "stopped by --max-time 3m0s with 6 questions left") {
		t.Errorf("error %v", err)
	}
}

func TestBudgetIsResumedWithWhatIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asker := &fakeAsker{reply: dear}
	for left := 7; left >= 0; left -= 2 {
		r := newRunner(t, asker, dir, nQuestions(9)...)
		r.budget.calls = 6
		err := run(t.Context(), r)
		var stopped *StoppedByBudget
		if errors.As(err, &stopped); stopped == nil || stopped.Left != left {
			if !(left < 2 && err == nil) {
				t.Fatalf("error %v, want %d left", err, left)
			}
		}
		if err := r.journal.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := asker.questions(); len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("asked twice: %v", got)
	}
}

func TestBudgetThatIsEnoughIsNotNoticed(t *testing.T) {
	t.Parallel()
	r := newRunner(t, &fakeAsker{reply: dear}, "", nQuestions(4)...)
	r.budget.calls, r.budget.tokens, r.budget.usd, r.budget.time = 12, 400, 0.05, time.Hour
	r.budget.started = time.Now()
	if err := run(t.Context(), r); err != nil {
		t.Error(err)
	}
}

func TestBudgetCountsWhatFailedQuestionsSpent(t *testing.T) {
	t.Parallel()
	asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		return nil, detailed(t, codes.Internal, &llmv1.Usage{Calls: 5})
	}}
	r := newRunner(t, asker, "", nQuestions(9)...)
	r.budget.calls = 10
	err := run(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "--max-calls 10 (10 made)") || len(asker.questions()) != 2 {
		t.Errorf("error %v after %v", err, asker.questions())
	}
}
