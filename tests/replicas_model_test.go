package tests

import (
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// TestOneModelEndpointOfTwoFailsAndNoCallDoes puts a faulty network before the first endpoint.
func TestOneModelEndpointOfTwoFailsAndNoCallDoes(t *testing.T) {
	model, other := scripted(t), scripted(t)
	for _, f := range replicaFaults(t) {
		if f.name == hungHandlers {
			continue // needs a gRPC server
		}
		t.Run(f.name, func(t *testing.T) {
			p := startProxy(t, strings.TrimSuffix(strings.TrimPrefix(model.URL(), "http://"), "/v1"))
			cfg := model.Config()
			cfg.BaseURL, cfg.Timeout = "http://"+p.Listen+"/v1", 2*time.Second
			cfg.Fallbacks = []llm.Endpoint{{BaseURL: other.URL()}}
			c, err := llm.New(cfg, telemetry.Discard())
			if err != nil {
				t.Fatal(err)
			}
			defer f.strike(t, p)()
			var cost toll
			for range 2 * questionsPerFault() {
				began := time.Now()
				resp, err := c.Complete(timeoutContext(t, patience), llm.Request{
					Task: "answer", Ledger: llm.NewLedger(nil),
					Messages: []llm.Message{{Role: llm.RoleUser, Content: "Who employs whom?"}},
				})
				if err != nil || !strings.Contains(resp.Text, "Google") {
					t.Errorf("got %q, %v", resp.Text, err)
				}
				cost.again = time.Since(began)
				cost.asked, cost.slowest = cost.asked+1, max(cost.slowest, cost.again)
			}
			t.Logf("%d calls, slowest %v, the last %v", cost.asked, cost.slowest, cost.again)
		})
	}
}
