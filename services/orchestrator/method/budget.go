package method

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/llm"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// modelStage runs a stage of one model call.
func modelStage(ctx context.Context, q *question.Question, stage orchestratorv1.Stage,
	call func(context.Context, *llmv1.Limits) (question.Cost, error)) error {
	return q.Stage(ctx, stage, func(ctx context.Context) (question.Cost, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		return call(ctx, limits)
	})
}

// multiCallStage runs a stage of several calls. Whether or not the stage fails, its usage is that of
// all model calls that it made.
func multiCallStage(ctx context.Context, q *question.Question, stage orchestratorv1.Stage,
	do func(context.Context, *stageBudget) error) error {
	return q.Stage(ctx, stage, func(ctx context.Context) (question.Cost, error) {
		b := newStageBudget(q)
		err := do(ctx, b)
		return b, b.ledger.AttachUsage(err)
	})
}

// stageBudget accounts for the model calls of one stage against what the question may still spend.
// Safe for concurrent use.
type stageBudget struct {
	ledger *llm.Ledger
	model  *llmv1.ModelRef
	// exhausted is the error of a budget that was spent before the first call.
	exhausted error

	mu       sync.Mutex
	warnings []*llmv1.Warning
}

func newStageBudget(q *question.Question) *stageBudget {
	limits, err := q.Limits()
	return &stageBudget{ledger: llm.NewLedger(limits), model: limits.GetModel(), exhausted: err}
}

// limits returns what the next call may spend, or llm.ErrBudget if nothing is left.
func (b *stageBudget) limits() (*llmv1.Limits, error) {
	if b.exhausted != nil {
		return nil, b.exhausted
	}
	left, err := b.ledger.Remaining()
	if err != nil {
		return nil, err
	}
	return &llmv1.Limits{Budget: left, Model: b.model}, nil
}

// callModel makes one model call of a stage and accounts for it, also if it fails.
func callModel[Resp question.Cost](b *stageBudget, call func(*llmv1.Limits) (Resp, error)) (resp Resp, err error) {
	limits, err := b.limits()
	if err != nil {
		return resp, err
	}
	if resp, err = call(limits); err != nil {
		b.ledger.Charge(llm.AttachedUsage(err))
		return resp, err
	}
	b.ledger.Charge(resp.GetUsage())
	b.mu.Lock()
	defer b.mu.Unlock()
	b.warnings = append(b.warnings, resp.GetWarnings()...)
	return resp, nil
}

func (b *stageBudget) warn(code, message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.warnings = append(b.warnings, llm.Warn(code, "%s", message))
}

// warnEndedEarly reports a step that was cut short by err.
func (b *stageBudget) warnEndedEarly(step string, err error) {
	code := llm.WarnUnavailable
	if question.OutOfBudget(err) {
		code = llm.WarnBudget
	}
	b.warn(code, step+" ended early: "+question.FailureReason(err))
}

// GetUsage implements question.Cost.
func (b *stageBudget) GetUsage() *llmv1.Usage { return b.ledger.Usage() }

// GetWarnings implements question.Cost.
func (b *stageBudget) GetWarnings() []*llmv1.Warning {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.warnings
}

// newGroup returns a group for at most limit calls at once; 0 is no limit. Calls that share a
// budget run one after the other, because each may spend all that is left.
func newGroup(q *question.Question, limit int) *errgroup.Group {
	var group errgroup.Group
	if limit > 0 {
		group.SetLimit(limit)
	}
	if b := q.Request().GetLimits().GetBudget(); b.GetMaxCalls() > 0 || b.GetMaxTokens() > 0 || b.GetMaxCostUsd() > 0 {
		group.SetLimit(1)
	}
	return &group
}
