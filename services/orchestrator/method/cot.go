package method

import (
	"context"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// CoT is chain of thought: the model reasons before it answers, with 6 examples (PG&AKV §IV-C).
type CoT struct{ Stages }

// Info implements Method.
func (CoT) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name:        "cot",
		Description: "Reasons step by step from the model's own knowledge, with 6 examples.",
		Calls:       "1",
		Stages:      []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_ANSWER},
	}
}

// Answer implements Method.
func (m CoT) Answer(ctx context.Context, q *question.Question) error {
	return m.answer(ctx, q, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT,
	}, tripleEvidence(nil))
}
