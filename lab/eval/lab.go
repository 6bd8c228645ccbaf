package eval

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lab is what all evaluations of a command share.
type lab struct {
	asker    Asker
	parallel int
	timeout  time.Duration // of one question
	hops     *hops
	budget   *budget
	progress *progress
	pause    func(context.Context, time.Duration) error
}

// run runs the evaluations one after the other. One that the services refuse
// is reported at once and skipped; its error is kept with it. Any other error ends
// them all.
func (l *lab) run(ctx context.Context, evaluations []*evaluation) error {
	defer l.progress.end()
	for i, e := range evaluations {
		l.progress.begin(i)
		err := (&runner{lab: l, evaluation: e}).run(ctx)
		var refused *RefusedError
		var budget *StoppedByBudget
		switch {
		case err == nil:
		case errors.As(err, &refused):
			e.stopped = refused
			l.progress.drop(i)
			if len(evaluations) > 1 {
				l.progress.note("%s cannot be evaluated: %v", e.name, refused)
			}
		case errors.As(err, &budget):
			budget.Left = 0
			for _, e := range evaluations {
				if e.stopped == nil {
					budget.Left += len(e.questions) - e.countAnswered()
				}
			}
			return budget
		default:
			return e.explain(err)
		}
	}
	return nil
}

func (e *evaluation) countAnswered() int {
	n := 0
	for _, q := range e.questions {
		if e.journal.IsAnswered(q.ID) {
			n++
		}
	}
	return n
}

// explain says which evaluation ended early, why, and what is kept of it.
func (e *evaluation) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		err = errors.New("stopped; give the same command again to go on")
	}
	kept := "nothing is kept without --out"
	if e.dir != "" {
		kept = "kept in " + e.dir
	}
	return fmt.Errorf("evaluate %s: %w (%d of %d questions answered, %s)", e.name, err, e.countAnswered(),
		len(e.questions),
		kept)
}
