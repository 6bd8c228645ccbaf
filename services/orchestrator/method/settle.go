package method

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// settleOn answers with the triple nearest to the question when a late stage
// failed; nil where there is none.
func settleOn(ctx context.Context, q *question.Question, best *graphv1.Triple, err error) error {
	if best == nil || !question.Survivable(ctx, err) {
		return err
	}
	partial(q, []*orchestratorv1.Answer{{Answer: best.GetObject(), Evidence: []*graphv1.Triple{best}}}, err)
	return nil
}

// settleOnEnds answers with the ends of the best relation path when a late
// stage failed.
func settleOnEnds(ctx context.Context, q *question.Question, paths []*graphv1.ReasoningPath, err error) error {
	groups := verbalise.Group(paths)
	if len(groups) == 0 || !question.Survivable(ctx, err) {
		return err
	}
	partial(q, onPaths(groups[0].Ends, paths), err)
	return nil
}
