// Package question holds the state of one question: its run so far, its cost, and its listener.
package question

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// ErrStopped ends a method whose caller asked to stop after a stage.
var ErrStopped = errors.New("stopped after the requested stage")

// Listener receives the events of a question. It must be safe for concurrent use.
type Listener func(*orchestratorv1.AskStreamResponse)

// Cost is the cost of a stage, as its response reports it.
type Cost interface {
	GetUsage() *llmv1.Usage
	GetWarnings() []*llmv1.Warning
}

// Purse is the tenant's quota, which other questions spend from at the same time. Safe for concurrent
// use.
type Purse interface {
	// Remaining returns what may still be spent; 0 is no limit. It returns llm.ErrBudget if nothing
	// is left.
	Remaining() (*llmv1.Budget, error)
	// Charge deducts usage.
	Charge(*llmv1.Usage)
}

// NoCost is the cost of stages that call no model.
var NoCost Cost = (*orchestratorv1.StageReport)(nil)

// Question is one question in progress. Stages may run in parallel; they write their results through
// Update.
type Question struct {
	req    *orchestratorv1.AskRequest
	text   string
	tracer trace.Tracer
	ledger *llm.Ledger
	listen Listener
	purse  Purse // nil if unlimited
	kgs    []*graphv1.KnowledgeGraphRef

	mu          sync.Mutex
	run         *orchestratorv1.Run
	holding     bool     // the answer is held back from the listener
	heldDeltas  []string // of the answer's text
	sent        bool     // the listener has received text since the last restart
	alternative *orchestratorv1.Run
}

// New returns a question that writes to run. listen may be nil.
func New(req *orchestratorv1.AskRequest, run *orchestratorv1.Run, tracer trace.Tracer, listen Listener) *Question {
	return &Question{
		req: req, text: req.GetQuestion(), run: run, tracer: tracer, ledger: llm.NewLedger(req.GetLimits()),
		listen:  listen,
		kgs:     append([]*graphv1.KnowledgeGraphRef{run.GetKg()}, run.GetOtherKgs()...),
		holding: req.GetOptions().GetAbstainBelow() > 0,
	}
}

// WithPurse makes the question spend from a purse. It returns the question.
func (q *Question) WithPurse(purse Purse) *Question {
	q.purse = purse
	return q
}

// Text returns the question to answer.
func (q *Question) Text() string { return q.text }

// Restate replaces a follow-up question by a standalone one. It must be called before the method.
func (q *Question) Restate(text string) {
	q.text = text
	q.Update(func(r *orchestratorv1.Run) { r.StandaloneQuestion = text })
}

// Request returns the caller's request.
func (q *Question) Request() *orchestratorv1.AskRequest { return q.req }

// KG returns the snapshot to name in requests. If the question reads several, the context of a stage
// makes the retriever read all of them, see sources.With.
func (q *Question) KG() *graphv1.KnowledgeGraphRef { return q.run.GetKg() }

// Streaming reports whether the question has a listener.
func (q *Question) Streaming() bool { return q.listen != nil }

// OtherKGs returns the other snapshots that the question reads.
func (q *Question) OtherKGs() []*graphv1.KnowledgeGraphRef { return q.run.GetOtherKgs() }

// Update changes the run. Methods change only graphs, answers, text and grounding.
func (q *Question) Update(change func(*orchestratorv1.Run)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change(q.run)
}

// SetAlternative keeps a run whose answers another method may be better than.
func (q *Question) SetAlternative(run *orchestratorv1.Run) { q.alternative = run }

// Alternative returns the run that another method gave, nil if none was.
func (q *Question) Alternative() *orchestratorv1.Run { return q.alternative }

// Limits returns what a stage may still spend, or llm.ErrBudget if nothing is left.
func (q *Question) Limits() (*llmv1.Limits, error) {
	left, err := q.ledger.Remaining()
	if err != nil {
		return nil, err
	}
	if q.purse != nil {
		remaining, err := q.purse.Remaining()
		if err != nil {
			return nil, err
		}
		left = tighterBudget(left, remaining)
	}
	return &llmv1.Limits{Budget: left, Model: q.req.GetLimits().GetModel()}, nil
}

// tighterBudget returns what both budgets allow.
func tighterBudget(a, b *llmv1.Budget) *llmv1.Budget {
	return &llmv1.Budget{
		MaxCalls:   minLimit(a.GetMaxCalls(), b.GetMaxCalls()),
		MaxTokens:  minLimit(a.GetMaxTokens(), b.GetMaxTokens()),
		MaxCostUsd: minLimit(a.GetMaxCostUsd(), b.GetMaxCostUsd()),
	}
}

// minLimit returns the smaller of two limits; 0 is no limit.
func minLimit[N cmp.Ordered](a, b N) N {
	var unlimited N
	if a == unlimited || b != unlimited && b < a {
		return b
	}
	return a
}

// Stage runs one stage in a span of its own, accounts for its cost and notifies the listener. It
// returns ErrStopped after the stage that the caller asked to stop after. The error of a failed stage
// is also a warning of the run, because the method may recover from it.
func (q *Question) Stage(ctx context.Context, stage orchestratorv1.Stage,
	do func(context.Context) (Cost, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := config.EnumName(stage)
	ctx, span := q.tracer.Start(ctx, "stage "+name, trace.WithAttributes(attribute.String("triplemesh.stage", name)))
	defer span.End()
	q.notify(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_StageStarted{
		StageStarted: &orchestratorv1.StageStarted{Stage: stage},
	}})
	start := time.Now()
	var skipped warningSet
	cost, err := do(sources.With(ctx, q.kgs, skipped.add))
	report := &orchestratorv1.StageReport{Stage: stage, Duration: durationpb.New(time.Since(start))}
	if err != nil {
		span.SetStatus(otelcodes.Error, status.Convert(err).Message())
		report.Usage = llm.AttachedUsage(err)
		report.Warnings = append(report.Warnings, StageWarning(stage, err))
	} else {
		report.Usage = cost.GetUsage()
		report.Warnings = append(report.Warnings, cost.GetWarnings()...)
	}
	q.ledger.Charge(report.GetUsage())
	if q.purse != nil {
		q.purse.Charge(report.GetUsage())
	}
	report.Warnings = append(report.Warnings, skipped.list()...)
	q.Update(func(r *orchestratorv1.Run) {
		r.Stages = append(r.Stages, report)
		r.Usage = q.ledger.Usage()
	})
	if q.Streaming() {
		q.notify(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_StageFinished{
			StageFinished: &orchestratorv1.StageFinished{Report: report, Run: q.redactedSnapshot()},
		}})
	}
	if err != nil {
		return err
	}
	if q.req.GetOptions().GetUntil() == stage {
		return ErrStopped
	}
	return nil
}

// Delta sends the next piece of the answer's text to the listener, without the braces of its answers,
// unless it is held back.
func (q *Question) Delta(text string) {
	text = kgtext.RemoveBraces(text)
	q.mu.Lock()
	holding := q.holding
	if holding {
		q.heldDeltas = append(q.heldDeltas, text)
	}
	q.sent = q.sent || !holding && text != ""
	q.mu.Unlock()
	if holding {
		return
	}
	q.notify(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{AnswerDelta: text}})
}

// Restart tells the listener to discard the text so far.
func (q *Question) Restart() {
	q.mu.Lock()
	holding := q.holding
	q.heldDeltas = nil
	q.sent = q.sent && holding
	q.mu.Unlock()
	if !holding {
		q.notifyRestart()
	}
}

func (q *Question) notifyRestart() {
	q.notify(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_AnswerRestarted{
		AnswerRestarted: true}})
}

// Snapshot returns a copy of the run.
func (q *Question) Snapshot() *orchestratorv1.Run {
	q.mu.Lock()
	defer q.mu.Unlock()
	return proto.CloneOf(q.run)
}

func (q *Question) notify(event *orchestratorv1.AskStreamResponse) {
	if q.listen != nil {
		q.listen(event)
	}
}

// StageWarning returns the warning of a stage that failed.
func StageWarning(stage orchestratorv1.Stage, err error) *llmv1.Warning {
	code := llm.WarnUnavailable
	if OutOfBudget(err) {
		code = llm.WarnBudget
	}
	return llm.Warn(code, "the stage %s failed: %s", config.EnumName(stage), status.Convert(err).Message())
}

// Answers held back: if the caller set abstain_below, or nothing was found to answer from, the
// listener receives stages and graphs at once, but the answer only after it is settled what is said
// of it.

// Hold holds the answer back from the listener from now on.
func (q *Question) Hold() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.holding = true
}

// Replace replaces the text that the listener has or that is held back, if there is any.
func (q *Question) Replace(text string) {
	q.mu.Lock()
	sent, isHeld := q.sent, len(q.heldDeltas) > 0
	q.sent, q.heldDeltas = false, nil
	q.mu.Unlock()
	if sent {
		q.notifyRestart()
	}
	if sent || isHeld {
		q.Delta(text)
	}
}

// Release sends the text held back, and holds nothing back from now on. If replacement is not empty
// and there is text, it is sent instead; the listener is told to discard text that it has already.
func (q *Question) Release(replacement string) {
	if replacement != "" {
		q.Replace(replacement)
	}
	q.mu.Lock()
	deltas := q.heldDeltas
	q.holding, q.heldDeltas = false, nil
	q.mu.Unlock()
	for _, delta := range deltas {
		q.Delta(delta)
	}
}

// redactedSnapshot returns a copy of the run without the answer, if that is held back.
func (q *Question) redactedSnapshot() *orchestratorv1.Run {
	run := q.Snapshot()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.holding {
		run.Answers, run.Text, run.Grounding, run.GroundingReason, run.AnswerProbability = nil, "", 0, "", nil
	}
	return run
}

// warningSet are distinct warnings from within a stage. Safe for concurrent use.
type warningSet struct {
	mu       sync.Mutex
	warnings []*llmv1.Warning
}

func (s *warningSet) add(w *llmv1.Warning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.warnings, func(o *llmv1.Warning) bool { return o.GetMessage() == w.GetMessage() }) {
		s.warnings = append(s.warnings, w)
	}
}

func (s *warningSet) list() []*llmv1.Warning {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.warnings
}

// OutOfBudget reports whether a stage failed because the budget was spent.
func OutOfBudget(err error) bool {
	if errors.Is(err, llm.ErrBudget) {
		return true
	}
	return errinfo.Reason(err) == errorsv1.ErrorReason_ERROR_REASON_BUDGET_EXHAUSTED
}

// Recoverable reports whether a method may answer with what it has after this error: the budget or
// the deadline ran out, or a stage or its model is down. An invalid question is not recoverable, nor
// is a caller that cancelled ctx, whatever the error says.
func Recoverable(ctx context.Context, err error) bool {
	switch {
	case err == nil, errors.Is(err, ErrStopped), errors.Is(err, context.Canceled),
		errors.Is(ctx.Err(), context.Canceled):
		return false
	case errors.Is(err, context.DeadlineExceeded), OutOfBudget(err):
		return true
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal, codes.Unknown,
		codes.FailedPrecondition:
		return true
	}
	return false
}

// FailureReason describes an error to the caller.
func FailureReason(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded:
		return "the time ran out"
	case OutOfBudget(err):
		return "the budget ran out"
	}
	return status.Convert(err).Message()
}
