package tests

import (
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// TestOneModelEndpointOfTwoFailsAndNoCallDoes has a bad network before the
// endpoint that is asked first.
func TestOneModelEndpointOfTwoFailsAndNoCallDoes(t *testing.T) {
	model, other := scripted(t), scripted(t)
	for _, f := range replicaFaults(t) {
		if f.name == hungHandlers {
			continue // that one speaks gRPC
		}
		t.Run(f.name, func(t *testing.T) {
			p := behind(t, strings.TrimSuffix(strings.TrimPrefix(model.URL(), "http://"), "/v1"))
			cfg := model.Config()
			cfg.BaseURL, cfg.Timeout = "http://"+p.Listen+"/v1", 2*time.Second
			cfg.Fallbacks = []llm.Endpoint{{BaseURL: other.URL()}}
			c, err := llm.New(cfg, telemetry.Discard())
			if err != nil {
				t.Fatal(err)
			}
			defer f.strike(t, p)()
			var told toll
			for range 2 * asked() {
				began := time.Now()
				resp, err := c.Complete(within(t, patience), llm.Request{
					Task: "answer", Ledger: llm.NewLedger(nil),
					Messages: []llm.Message{{Role: llm.RoleUser, Content: "Who employs whom?"}},
				})
				if err != nil || !strings.Contains(resp.Text, "Google") {
					t.Errorf("got %q, %v", resp.Text, err)
				}
				told.again = time.Since(began)
				told.asked, told.slowest = told.asked+1, max(told.slowest, told.again)
			}
			t.Logf("%d calls, slowest %v, the last %v", told.asked, told.slowest, told.again)
		})
	}
}
