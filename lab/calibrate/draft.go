package calibrate

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Asker answers questions.
type Asker interface {
	Ask(ctx context.Context, req *orchestratorv1.AskRequest, opts ...grpc.CallOption) (*orchestratorv1.AskResponse,
		error)
}

// draft has the model write the pseudo-graph of each question, several at a
// time. told is called after each.
func draft(ctx context.Context, asker Asker, kg *graphv1.KnowledgeGraphRef, questions []dataset.Question, parallel int,
	told func()) ([]drafted, error) {
	all := make([]drafted, len(questions))
	var mu sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for i, q := range questions {
		work.Go(func() error {
			resp, err := asker.Ask(ctx, &orchestratorv1.AskRequest{
				Question: q.Question, Method: "pg-akv", Kg: kg,
				Options: &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, NoRecord: true},
			})
			if err != nil {
				return fmt.Errorf("draft the pseudo-graph of question %s: %w", q.ID, err)
			}
			all[i] = drafted{Question: q, pseudo: resp.GetRun().GetPgAkv().GetPseudoGraph(), held: isHeld(q.ID)}
			mu.Lock()
			defer mu.Unlock()
			told()
			return nil
		})
	}
	return all, work.Wait()
}
