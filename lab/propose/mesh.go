package propose

import (
	"context"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// patience is how long a passage waits in all where a mesh has too much to do,
// or where a quota of questions a minute is used up.
const patience = 5 * time.Minute

// Mesh proposes by way of an orchestrator.
type Mesh struct {
	Client orchestratorv1.OrchestratorServiceClient
	// Model is asked if it is not empty.
	Model string
	// Timeout is the longest time for one passage.
	Timeout time.Duration
}

// Propose asks about one passage, again where the mesh says when to.
func (m *Mesh) Propose(ctx context.Context, p Passage) (*orchestratorv1.ProposeTriplesResponse, error) {
	req := &orchestratorv1.ProposeTriplesRequest{Text: p.Text, Context: p.Context}
	if m.Model != "" {
		req.Limits = &llmv1.Limits{Model: &llmv1.ModelRef{Model: m.Model}}
	}
	for waited := time.Duration(0); ; {
		resp, err := m.ask(ctx, req)
		pause, again := retryAfter(err)
		if waited += pause; !again || waited > patience {
			return resp, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func (m *Mesh) ask(ctx context.Context,
	req *orchestratorv1.ProposeTriplesRequest) (*orchestratorv1.ProposeTriplesResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	return m.Client.ProposeTriples(ctx, req)
}

// retryAfter returns when to ask again; false where nobody said so.
func retryAfter(err error) (time.Duration, bool) {
	for _, detail := range status.Convert(err).Details() {
		if retry, ok := detail.(*errdetails.RetryInfo); ok {
			return max(retry.GetRetryDelay().AsDuration(), 10*time.Millisecond), true
		}
	}
	return 0, false
}

// isInvalidPassage tells an error that has to do with one passage alone.
func isInvalidPassage(err error) bool { return status.Code(err) == codes.InvalidArgument }
