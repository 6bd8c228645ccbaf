package propose

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Mesh proposes by way of an orchestrator.
type Mesh struct {
	Client orchestratorv1.OrchestratorServiceClient
	// Model is asked where it is not empty.
	Model string
	// Timeout is the longest time for one passage.
	Timeout time.Duration
}

// Propose asks about one passage.
func (m *Mesh) Propose(ctx context.Context, p Passage) (*orchestratorv1.ProposeTriplesResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	req := &orchestratorv1.ProposeTriplesRequest{Text: p.Text, Context: p.Context}
	if m.Model != "" {
		req.Limits = &llmv1.Limits{Model: &llmv1.ModelRef{Model: m.Model}}
	}
	return m.Client.ProposeTriples(ctx, req)
}

// refused tells an error that has to do with one passage alone.
func refused(err error) bool { return status.Code(err) == codes.InvalidArgument }
