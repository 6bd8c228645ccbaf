// Package question carries one question through its method: what has been
// found so far, what it has cost, and who is told of it.
package question

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// ErrUntil ends a method whose caller asked to stop after a stage.
var ErrUntil = errors.New("stopped after the stage that was asked for")

// Listener is told of a question's events. Calls come one at a time.
type Listener func(*orchestratorv1.AskStreamResponse)

// Spent is what a stage's response says of its cost.
type Spent interface {
	GetUsage() *llmv1.Usage
	GetWarnings() []*llmv1.Warning
}

// Purse is what else bounds what a question may spend: its tenant's quota, which
// other questions spend from at the same time. Safe for concurrent use.
type Purse interface {
	// Left is what may still be spent, open limits 0. The error is an
	// llm.ErrBudget where that is nothing.
	Left() (*llmv1.Budget, error)
	// Charge counts what was spent.
	Charge(*llmv1.Usage)
}

// Free is the cost of stages that call no model.
var Free Spent = (*orchestratorv1.StageReport)(nil)

// Question is one question under way. Stages may run in parallel; what they
// find is set through Update.
type Question struct {
	req    *orchestratorv1.AskRequest
	text   string
	tracer trace.Tracer
	ledger *llm.Ledger
	listen Listener
	purse  Purse // nil where there is none
	kgs    []*graphv1.KnowledgeGraphRef

	mu     sync.Mutex
	run    *orchestratorv1.Run
	held   bool     // nobody is told of the answer yet
	pieces []string // of the answer's text, while it is held
}

// New begins a question. run holds what is known of it; listen may be nil.
func New(req *orchestratorv1.AskRequest, run *orchestratorv1.Run, tracer trace.Tracer, listen Listener) *Question {
	return &Question{
		req: req, text: req.GetQuestion(), run: run, tracer: tracer, ledger: llm.NewLedger(req.GetLimits()), listen: listen,
		kgs:  append([]*graphv1.KnowledgeGraphRef{run.GetKg()}, run.GetOtherKgs()...),
		held: req.GetOptions().GetAbstainBelow() > 0,
	}
}

// Within lets the question spend no more than a purse holds, and from it. It
// returns the question.
func (q *Question) Within(purse Purse) *Question {
	q.purse = purse
	return q
}

// Text is the question itself, such as it is to be answered.
func (q *Question) Text() string { return q.text }

// Restate puts a question that stands alone in the place of one that follows
// others, before the method takes it.
func (q *Question) Restate(text string) {
	q.text = text
	q.Update(func(r *orchestratorv1.Run) { r.StandaloneQuestion = text })
}

// Request is what the caller asked.
func (q *Question) Request() *orchestratorv1.AskRequest { return q.req }

// KG is the snapshot that requests name. Where the question reads several, the
// retriever reads the others too: stages get a context that says so.
func (q *Question) KG() *graphv1.KnowledgeGraphRef { return q.run.GetKg() }

// Streaming tells whether somebody waits for the answer as it is written.
func (q *Question) Streaming() bool { return q.listen != nil }

// OtherKGs are the other snapshots that the question reads.
func (q *Question) OtherKGs() []*graphv1.KnowledgeGraphRef { return q.run.GetOtherKgs() }

// Update changes the run. Methods keep to the parts that are theirs: graphs,
// answers, text and grounding.
func (q *Question) Update(change func(*orchestratorv1.Run)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change(q.run)
}

// Limits is what a stage may still spend. It fails with llm.ErrBudget where
// that is nothing.
func (q *Question) Limits() (*llmv1.Limits, error) {
	left, err := q.ledger.Left()
	if err != nil {
		return nil, err
	}
	if q.purse != nil {
		held, err := q.purse.Left()
		if err != nil {
			return nil, err
		}
		left = least(left, held)
	}
	return &llmv1.Limits{Budget: left, Model: q.req.GetLimits().GetModel()}, nil
}

// least is what two budgets both allow.
func least(a, b *llmv1.Budget) *llmv1.Budget {
	return &llmv1.Budget{
		MaxCalls:   bound(a.GetMaxCalls(), b.GetMaxCalls()),
		MaxTokens:  bound(a.GetMaxTokens(), b.GetMaxTokens()),
		MaxCostUsd: bound(a.GetMaxCostUsd(), b.GetMaxCostUsd()),
	}
}

// bound is the smaller of two limits, of which 0 is open.
func bound[N cmp.Ordered](a, b N) N {
	var open N
	if a == open || b != open && b < a {
		return b
	}
	return a
}

// Stage runs one stage in a span of its own, accounts for it and tells the
// listener. It returns ErrUntil after the stage that the caller wanted to stop
// at, and the stage's own error where it failed: that stands in the run as a
// warning too, since the method may go on without.
func (q *Question) Stage(ctx context.Context, stage orchestratorv1.Stage, do func(context.Context) (Spent, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := Name(stage)
	ctx, span := q.tracer.Start(ctx, "stage "+name, trace.WithAttributes(attribute.String("triplemesh.stage", name)))
	defer span.End()
	q.tell(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_StageStarted{
		StageStarted: &orchestratorv1.StageStarted{Stage: stage},
	}})
	began := time.Now()
	var without notes
	spent, err := do(sources.With(ctx, q.kgs, without.add))
	report := &orchestratorv1.StageReport{Stage: stage, Duration: durationpb.New(time.Since(began))}
	if err != nil {
		span.SetStatus(codes.Error, status.Convert(err).Message())
		report.Usage = llm.Spent(err)
		report.Warnings = append(report.Warnings, Warning(stage, err))
	} else {
		report.Usage = spent.GetUsage()
		report.Warnings = append(report.Warnings, spent.GetWarnings()...)
	}
	q.ledger.Charge(report.GetUsage())
	if q.purse != nil {
		q.purse.Charge(report.GetUsage())
	}
	report.Warnings = append(report.Warnings, without.taken()...)
	q.Update(func(r *orchestratorv1.Run) {
		r.Stages = append(r.Stages, report)
		r.Usage = q.ledger.Usage()
	})
	if q.Streaming() {
		q.tell(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_StageFinished{
			StageFinished: &orchestratorv1.StageFinished{Report: report, Run: q.public()},
		}})
	}
	if err != nil {
		return err
	}
	if q.req.GetOptions().GetUntil() == stage {
		return ErrUntil
	}
	return nil
}

// Delta tells the listener of the next piece of the answer's text, unless
// answers are held.
func (q *Question) Delta(text string) {
	q.mu.Lock()
	held := q.held
	if held {
		q.pieces = append(q.pieces, text)
	}
	q.mu.Unlock()
	if held {
		return
	}
	q.tell(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{AnswerDelta: text}})
}

// Restart tells the listener that the pieces of the answer's text so far count no
// more. Those that are held are forgotten.
func (q *Question) Restart() {
	q.mu.Lock()
	held := q.held
	q.pieces = nil
	q.mu.Unlock()
	if !held {
		q.tell(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_AnswerRestarted{AnswerRestarted: true}})
	}
}

// Snapshot is a copy of the run as it stands.
func (q *Question) Snapshot() *orchestratorv1.Run {
	q.mu.Lock()
	defer q.mu.Unlock()
	return proto.CloneOf(q.run)
}

func (q *Question) tell(event *orchestratorv1.AskStreamResponse) {
	if q.listen != nil {
		q.listen(event)
	}
}

// Warning tells what a stage's failure was, in the words of its status.
func Warning(stage orchestratorv1.Stage, err error) *llmv1.Warning {
	code := llm.WarnUnavailable
	if errors.Is(err, llm.ErrBudget) || OutOfBudget(err) {
		code = llm.WarnBudget
	}
	return llm.Warn(code, "the stage %s failed: %s", Name(stage), status.Convert(err).Message())
}

// Name is a stage's name as users write it: "ground-graph".
func Name(stage orchestratorv1.Stage) string {
	if name, ok := names[stage]; ok {
		return name
	}
	return fmt.Sprintf("stage %d", stage)
}

var names = map[orchestratorv1.Stage]string{
	orchestratorv1.Stage_STAGE_PSEUDO_GRAPH:      "pseudo-graph",
	orchestratorv1.Stage_STAGE_GROUND_GRAPH:      "ground-graph",
	orchestratorv1.Stage_STAGE_VERIFY:            "verify",
	orchestratorv1.Stage_STAGE_ANSWER:            "answer",
	orchestratorv1.Stage_STAGE_LINK:              "link",
	orchestratorv1.Stage_STAGE_PATHS:             "paths",
	orchestratorv1.Stage_STAGE_CANDIDATES:        "candidates",
	orchestratorv1.Stage_STAGE_EVALUATE_QUESTION: "evaluate-question",
	orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS:  "evaluate-answers",
	orchestratorv1.Stage_STAGE_REFLECT:           "reflect",
	orchestratorv1.Stage_STAGE_SEARCH:            "search",
	orchestratorv1.Stage_STAGE_EXPLORE:           "explore",
	orchestratorv1.Stage_STAGE_SAMPLE:            "sample",
	orchestratorv1.Stage_STAGE_CHOOSE:            "choose",
	orchestratorv1.Stage_STAGE_CLAIMS:            "claims",
	orchestratorv1.Stage_STAGE_REWRITE:           "rewrite",
}
