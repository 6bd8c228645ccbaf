package llm_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

func TestAHangingEndpointDoesNotHoldUpTheOthers(t *testing.T) {
	hung, well := testkit.NewLLM(t), testkit.NewLLM(t)
	hung.On().Hang()
	well.On().Reply("here")
	cfg := hung.Config()
	cfg.MaxInFlight, cfg.Timeout, cfg.Retries = 3, 100*time.Millisecond, 2
	cfg.Fallbacks = []llm.Endpoint{{BaseURL: well.URL(), Model: "spare"}}
	c := client(t, cfg)
	var all sync.WaitGroup
	for i := range 20 { // three are asked, the others wait for a place
		all.Go(func() {
			if resp, err := c.Complete(t.Context(), ask(string(rune('a'+i)))); err != nil || resp.Text != "here" {
				t.Errorf("got %+v, %v", resp, err)
			}
		})
	}
	all.Wait()
	// The places of the first two that fail are taken before the third has failed.
	if n := len(hung.Requests()); n < 3 || n > 5 {
		t.Errorf("%d requests to the one that hangs, want it left after 3 failures", n)
	}
}

func TestAHangingEndpointLeavesTheOthersTime(t *testing.T) {
	for name, streamed := range map[string]bool{"in one piece": false, "streamed": true} {
		t.Run(name, func(t *testing.T) {
			hung, well := testkit.NewLLM(t), testkit.NewLLM(t)
			hung.On().Hang()
			well.On().Reply("here")
			cfg := hung.Config()
			cfg.Fallbacks = []llm.Endpoint{{BaseURL: well.URL(), Model: "spare"}}
			req := ask("a")
			if streamed {
				req.Delta = func(string) {}
			}
			// Less than the endpoint's own timeout.
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if resp, err := client(t, cfg).Complete(ctx, req); err != nil || resp.Text != "here" {
				t.Errorf("got %+v, %v", resp, err)
			}
		})
	}
}
