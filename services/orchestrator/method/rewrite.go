package method

import (
	"context"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Rewrite makes a question that follows others stand alone, before a method
// takes it. Where the generator cannot, it is answered as it was asked, and the
// stage's warning says so.
func (s Stages) Rewrite(ctx context.Context, q *question.Question) error {
	history := q.Request().GetHistory()
	if len(history) == 0 {
		return nil
	}
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_REWRITE, func(ctx context.Context) (question.Spent, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		resp, err := s.Generator.RewriteQuestion(ctx, &generatorv1.RewriteQuestionRequest{
			Question: q.Text(), History: history, Limits: limits,
		})
		if err != nil {
			return nil, err
		}
		if resp.GetChanged() {
			q.Restate(resp.GetQuestion())
		}
		return resp, nil
	})
	if question.Survivable(ctx, err) {
		return nil
	}
	return err
}
