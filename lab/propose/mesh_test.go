package propose_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/lab/propose"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// client answers with errors, and then well.
type client struct {
	orchestratorv1.OrchestratorServiceClient
	errs  []error
	asked []*orchestratorv1.ProposeTriplesRequest
}

func (c *client) ProposeTriples(_ context.Context, req *orchestratorv1.ProposeTriplesRequest,
	_ ...grpc.CallOption) (*orchestratorv1.ProposeTriplesResponse, error) {
	c.asked = append(c.asked, req)
	if len(c.errs) >= len(c.asked) {
		return nil, c.errs[len(c.asked)-1]
	}
	return &orchestratorv1.ProposeTriplesResponse{}, nil
}

func later(t *testing.T, delay time.Duration) error {
	t.Helper()
	st, err := status.New(codes.ResourceExhausted,
		"too much to do").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(delay)})
	if err != nil {
		t.Fatal(err)
	}
	return st.Err()
}

func TestAMeshIsAskedAgainWhenItSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		errs []error
		want codes.Code
		asks int
	}{
		"in a moment":          {[]error{later(t, time.Millisecond), later(t, 0)}, codes.OK, 3},
		"tomorrow is too late": {[]error{later(t, 20*time.Hour)}, codes.ResourceExhausted, 1},
		"not where it does not say": {[]error{status.Error(codes.ResourceExhausted, "out of money")},
			codes.ResourceExhausted, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := &client{errs: c.errs}
			mesh := propose.Mesh{Client: client, Model: "small", Timeout: time.Minute}
			_, err := mesh.Propose(t.Context(), propose.Passage{Text: "Ada knows Bob.", Context: "People"})
			if status.Code(err) != c.want || len(client.asked) != c.asks {
				t.Errorf("asked %d times, got %v", len(client.asked), err)
			}
			if req := client.asked[0]; req.GetText() != "Ada knows Bob." || req.GetContext() != "People" ||
				req.GetLimits().GetModel().GetModel() != "small" {
				t.Errorf("asked %v", req)
			}
		})
	}
	t.Run("not when nobody waits", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		mesh := propose.Mesh{Client: &client{errs: []error{later(t, time.Minute)}}, Timeout: time.Minute}
		if _, err := mesh.Propose(ctx, propose.Passage{Text: "x"}); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("got %v", err)
		}
	})
}
