//go:build versions

package versions

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// TestAnOrchestratorBeforeItsStages calls methods that the stages of an older version lack: they
// succeed as long as one replica has them; then the error names the stage that is too old.
func TestAnOrchestratorBeforeItsStages(t *testing.T) {
	now := checkout(t)
	for _, old := range previous(t) {
		t.Run(old.name, func(t *testing.T) {
			m := start(t, now, data(t, now), scripted(t))
			_, pure := supportedKinds(t, m)
			asking := ask(t, m, kinds())
			for _, stage := range []string{"generator", "verifier"} {
				m.replace(t, stage, 0, old)
			}
			c := asking.look(t)
			c.check(t, "one generator and one verifier old", pure)
			t.Logf("one generator and one verifier old: %d questions, %d lost", c.asked, len(c.lost))
			asking.stop()

			for _, stage := range []string{"generator", "verifier"} {
				procs := m.procs[stage]
				procs[1].stop(t) // no client would find a new one
				procs[1] = m.launch(t, old, stage, 1)
				m.procs[stage] = procs
			}
			_, err := orchestratorv1.NewOrchestratorServiceClient(m.dial(t, "orchestrator")).Check(t.Context(),
				&orchestratorv1.CheckRequest{Text: claim, Kg: kg()})
			st := status.Convert(err)
			t.Logf("both old: %v", err)
			if err != nil && (st.Code() != codes.Unimplemented || !strings.Contains(st.Message(),
				"the generator does not have ExtractClaims")) {
				t.Errorf("the error does not name the outdated stage: %v", err)
			}
			if after, answers := supportedKinds(t, m); len(after) < len(kinds())-1 ||
				answers["pg-akv"] != pure["pg-akv"] {
				t.Errorf("beside the check, it answers %s", names(after))
			}
		})
	}
}
