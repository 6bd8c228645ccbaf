package tests

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// TestOneOrchestratorOfTwoFailsAndNoQuestionDoes has callers configured with both.
func TestOneOrchestratorOfTwoFailsAndNoQuestionDoes(t *testing.T) {
	stages := start(t, options{model: scripted(t), targets: callees()})
	set := map[string]string{}
	for _, name := range callees() {
		set["orchestrator."+name+".addr"] = stages.mesh.Addr(name)
	}
	var both [2]*toxiproxy.Proxy
	for i := range both {
		m := start(t, options{data: t.TempDir(), targets: []string{"orchestrator"}, set: set})
		both[i] = startProxy(t, m.mesh.Addr("orchestrator"))
	}
	addrs := both[0].Listen + "," + both[1].Listen
	for _, f := range replicaFaults(t) {
		t.Run(f.name, func(t *testing.T) {
			cfg := client.DefaultConfig(addrs)
			var err error
			if cfg.Patience, err = time.ParseDuration(patient); err != nil {
				t.Fatal(err)
			}
			conn, err := client.Dial(cfg, telemetry.Discard())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			c := orchestratorv1.NewOrchestratorServiceClient(conn)
			askExpectingWhole(t, c, "pg-akv")
			defer f.strike(t, both[0])()
			cost, _ := stream(t, c, "pg-akv", questionsPerFault())
			t.Log(cost)
		})
	}
	t.Run("the command line", func(t *testing.T) {
		program, dir := triplemesh(t), t.TempDir()
		defer replicaFaults(t)[6].strike(t, both[0])()
		for range questionsPerFault() {
			cmd := exec.CommandContext(timeoutContext(t, patience), program, "ask", employerQuestion, "--server", addrs,
				"--kg",
				wikidata+"@1", "--json")
			cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
			if out := run(t, cmd); !strings.Contains(out, employer) {
				t.Errorf("it printed %s", out)
			}
		}
	})
}
