package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Asker answers questions. The errors carry gRPC codes.
type Asker interface {
	Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error)
}

// AskerFunc is a function as an Asker. It makes one of a generated client:
//
//	eval.AskerFunc(func(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
//		return client.Ask(ctx, req)
//	})
type AskerFunc func(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error)

// Ask calls the function.
func (f AskerFunc) Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	return f(ctx, req)
}

// giveUpAfter is how many questions in a row may fail for a reason that is not
// theirs before the evaluation ends.
const giveUpAfter = 5

// journal is what a runner keeps its results in: a results.Journal.
type journal interface {
	Dir() string
	Manifest() results.Manifest
	Record(id string) (results.Record, bool)
	IsAnswered(id string) bool
	Add(results.Line) error
	Settle(results.Manifest) error
	Close() error
}

// runner asks the questions of one evaluation that have no answer yet.
type runner struct {
	*lab
	*evaluation

	settled bool  // whether an answer has told what the evaluation reads
	asked   int   // how many questions this process asked
	inARow  int   // how many of the last ones failed for no reason of theirs
	why     error // the last of these failures
}

// outcome is how one question went.
type outcome struct {
	question dataset.Question
	run      *orchestratorv1.Run
	err      error
	hops     *int
	spent    spending // on it, runs that are not kept included
}

// run asks the questions, several at a time, and keeps the result of each. It
// ends early, with nothing lost, when the context ends, when the budget is
// spent, when results cannot be written, and when the services cannot answer.
func (r *runner) run(ctx context.Context) error {
	pending := slices.DeleteFunc(slices.Clone(r.questions), func(q dataset.Question) bool {
		return r.journal.IsAnswered(q.ID)
	})
	r.settled = len(pending) < len(r.questions)
	r.budget.begin()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	outcomes := make(chan outcome)
	for inFlight := 0; ; {
		for ctx.Err() == nil && len(pending) > 0 && inFlight < r.allowed() && r.budget.admits(inFlight) {
			question := pending[0]
			pending = pending[1:]
			// The request is made here, for the manifest may yet change.
			request, m := r.request(question), r.journal.Manifest()
			go func() { outcomes <- r.answer(ctx, m, question, request) }()
			inFlight++
		}
		if inFlight == 0 {
			break
		}
		o := <-outcomes
		inFlight--
		if ctx.Err() != nil && o.err != nil {
			continue // it was called off, which is no failure of its own
		}
		if err := r.keep(o); err != nil {
			cancel(err)
		}
	}
	switch err := context.Cause(ctx); {
	case err != nil:
		return err
	case len(pending) > 0:
		return &StoppedByBudget{Bounds: r.budget.exhausted(0), Left: len(pending)}
	case r.inARow > 0 && r.inARow == r.asked:
		return r.unanswerable()
	}
	return nil
}

// allowed returns how many questions may be under way. The first one goes alone: its
// answer tells which snapshots the others are to read, and whether the method
// can be asked so at all.
func (r *runner) allowed() int {
	if r.settled {
		return r.parallel
	}
	return 1
}

func (r *runner) request(q dataset.Question) *orchestratorv1.AskRequest {
	m := r.journal.Manifest()
	request := &orchestratorv1.AskRequest{
		Question:      q.Question,
		Method:        m.Method,
		Kg:            kgRef(results.KG{Name: m.KG, Snapshot: m.Snapshot}),
		RelationPaths: r.paths[q.ID],
		Options:       proto.CloneOf(r.options),
	}
	for _, kg := range m.OtherKGs {
		request.OtherKgs = append(request.OtherKgs, kgRef(kg))
	}
	if m.GoldEntities {
		request.TopicEntities = q.TopicEntities
	}
	return request
}

// answer asks until there is an answer, waiting where the services have too
// much to do.
func (r *runner) answer(ctx context.Context, m results.Manifest, q dataset.Question,
	request *orchestratorv1.AskRequest) outcome {
	o := outcome{question: q}
	waited := time.Duration(0)
	for try := 0; ; try++ {
		o.run, o.err = r.ask(ctx, request)
		o.spent = o.spent.plus(newSpending(o.run.GetUsage())).plus(newSpending(llm.AttachedUsage(o.err)))
		if o.err == nil {
			o.err = starved(o.run, r.timeout)
		}
		pause, again := pauseAfter(o.err, try)
		if !again {
			break
		}
		if waited+pause > patience {
			o.err = &busyError{waited, o.err}
			break
		}
		r.progress.waiting(o.err, pause)
		if r.pause(ctx, pause) != nil {
			break
		}
		waited += pause
	}
	if ctx.Err() == nil {
		o.hops = r.hops.count(ctx, m, q)
	}
	return o
}

func (r *runner) ask(ctx context.Context, request *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	response, err := r.asker.Ask(ctx, request)
	if errors.Is(err, context.DeadlineExceeded) {
		err = status.FromContextError(err).Err()
	}
	if err == nil && response.GetRun() == nil {
		err = status.Error(codes.Internal, "the answer holds no run")
	}
	return response.GetRun(), err
}

// keep writes an outcome down. Its error ends the evaluation.
func (r *runner) keep(o outcome) error {
	r.asked++
	r.budget.add(o.spent)
	var busy *busyError
	switch {
	case errors.As(o.err, &busy):
		return busy
	case !r.settled && isRefusal(o.err):
		return &RefusedError{o.err}
	}
	m := r.journal.Manifest()
	if o.err == nil {
		if err := takeOn(&m, o.run); err != nil {
			return fmt.Errorf("question %s: %w", o.question.ID, err)
		}
		if asked := r.options.GetAblation(); o.run.GetAblation() != asked {
			return &RefusedError{fmt.Errorf("the services do not know of --ablation %s: they are older than this "+
				"program; update them", m.Options.Ablation)}
		}
	}
	l := results.NewLine(o.question, o.hops, o.run, o.err)
	if err := r.journal.Add(l); err != nil {
		return &unwritableError{err}
	}
	r.progress.add(l.Record)
	if o.err != nil {
		return r.count(o.err)
	}
	r.inARow, r.settled = 0, true
	if before := r.journal.Manifest(); before.Snapshot != m.Snapshot || !slices.Equal(before.OtherKGs, m.OtherKGs) ||
		!slices.Equal(before.Models, m.Models) {
		if err := r.journal.Settle(m); err != nil {
			return &unwritableError{err}
		}
	}
	return nil
}
