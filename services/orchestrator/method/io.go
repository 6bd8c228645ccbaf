package method

import (
	"context"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// IO is direct prompting: the model answers from memory, with 6 examples (PG&AKV §IV-C).
type IO struct{ Stages }

// Info implements Method.
func (IO) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name:        "io",
		Description: "Answers from the model's own knowledge, with 6 examples.",
		Calls:       "1",
		Stages:      []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_ANSWER},
	}
}

// Answer implements Method.
func (m IO) Answer(ctx context.Context, q *question.Question) error {
	return m.answerFromMemory(ctx, q)
}
