//go:build cluster

package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// TestAMeshInACluster runs tests that depend on each other: it deploys the mesh, asks it, and then
// disrupts it.
func TestAMeshInACluster(t *testing.T) {
	needImages(t)
	if !t.Run("the local overlay is applied and every pod gets ready", deploy) ||
		!t.Run("a knowledge graph is loaded in two versions", loadSnapshots) {
		t.FailNow()
	}
	for _, test := range []struct {
		name string
		test func(*testing.T)
	}{
		{"a question asked by grpcurl is answered from the knowledge graph", asksByGrpcurl},
		{"one trace goes through the pods of all six services", traces},
		{"a manifest with a missing secret is reported by its pod", missingSecret},
		{"a snapshot is activated everywhere or nowhere", switchesSnapshots},
		{"a new retriever pod takes its share within seconds", sharesTraffic},
		{"by DNS a new pod would have to wait for a connection to end", comparesDNS},
		{"no question fails while the retriever is scaled and every stage rolled out", rollsOut},
		{"no question fails while pods are deleted at random", deletesPods},
		{"no question fails while pods are killed without warning", killsPods},
		{"the HPA follows the load up and down", autoscales},
		{"retrieval scales with its pods, and the orchestrator does not bound it", scalesThroughput},
	} {
		t.Run(test.name, test.test)
	}
}

const employerQuestion = "What institution employed Robert Stam?"

// askResult has the fields of a run that the tests read.
type askResult struct {
	Run struct {
		ID, Text, Grounding, TraceID string
		Answers                      []struct{ Answer string }
		Kg                           struct{ Snapshot string }
	}
}

// grpcurl asks the orchestrator by grpcurl.
func grpcurl(tb testing.TB, addr, method, traceparent string) askResult {
	tb.Helper()
	var args []string
	if traceparent != "" {
		args = []string{"-H", "traceparent: " + traceparent}
	}
	out, err := ask(tb, addr, method, args...)
	if err != nil {
		tb.Fatal(err)
	}
	var a askResult
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		tb.Fatalf("read grpcurl's answer: %v: %s", err, out)
	}
	return a
}

func ask(tb testing.TB, addr, method string, args ...string) (string, error) {
	tb.Helper()
	return askOver(tb, addr, method, append([]string{"-plaintext"}, args...)...)
}

// askOver asks by a connection that the arguments describe.
func askOver(tb testing.TB, addr, method string, args ...string) (string, error) {
	tb.Helper()
	request := fmt.Sprintf(`{"question": %q, "method": %q, "kg": {"name": %q}}`, employerQuestion, method, wikidata)
	args = append([]string{"-max-time", "60", "-d", request}, args...)
	return run("", testkit.CheckoutFile(tb, ".cache", "bin", "grpcurl"), append(args, addr,
		"triplemesh.orchestrator.v1.OrchestratorService/Ask")...)
}

func asksByGrpcurl(t *testing.T) {
	a := grpcurl(t, forward(t, "deployment/orchestrator", 9090), "pg-akv", "").Run
	if len(a.Answers) != 1 || a.Answers[0].Answer != employer || a.Grounding != "GROUNDING_GROUNDED" ||
		a.Kg.Snapshot != "1" {
		t.Errorf("got %+v, want %s from snapshot 1", a, employer)
	}
}

// askInTrace asks two questions in one trace of the caller's: no method needs all six services.
func askInTrace(t *testing.T, trace string) {
	t.Helper()
	addr := forward(t, "deployment/orchestrator", 9090)
	for _, method := range []string{"pg-akv", "ger"} {
		if a := grpcurl(t, addr, method, "00-"+trace+"-00f067aa0ba902b7-01").Run; a.TraceID != trace {
			t.Errorf("%s ran under the trace %s, the caller's is %s", method, a.TraceID, trace)
		}
	}
}

func traces(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	askInTrace(t, trace)
	await(t, "spans of six services", patience, func() error {
		out, err := try("get", "--raw", "/api/v1/namespaces/"+namespace+"/services/trace-sink:8080/proxy/traces/"+trace)
		if err != nil {
			return err
		}
		var spans []struct{ Service, Pod, Name, ID, Parent string }
		if err := json.Unmarshal([]byte(out), &spans); err != nil {
			return err
		}
		known, pods, services := map[string]bool{"00f067aa0ba902b7": true}, map[string]bool{}, map[string]bool{}
		for _, s := range spans {
			known[s.ID], pods[s.Pod], services[s.Service] = true, true, true
		}
		for _, s := range spans {
			if !known[s.Parent] {
				return fmt.Errorf("the parent of the span %s of %s is missing", s.Name, s.Service)
			}
		}
		for _, s := range stages {
			if !services["triplemesh-"+s] {
				return fmt.Errorf("of %d spans none is of the %s", len(spans), s)
			}
		}
		figure("one trace of two questions", "%d spans of %d services in %d pods", len(spans), len(services), len(pods))
		return nil
	})
}

// missingSecret requires that the pod's status names the secret, and that the mesh keeps serving.
func missingSecret(t *testing.T) {
	kubectl(t, "patch", "deployment", "generator", "--patch",
		`{"spec":{"template":{"spec":{"containers":[{"name":"stage","env":[{"name":"TRIPLEMESH_LLM_API_KEY",`+
			`"valueFrom":{"secretKeyRef":{"name":"no-such-secret","key":"api-key"}}}]}]}}}}`)
	t.Cleanup(func() {
		kubectl(t, "rollout", "undo", "deployment/generator")
		waitForRollout(t, "generator")
	})
	await(t, "report of the missing secret", patience, func() error {
		reasons, err := try("get", "pods", "-l", "app.kubernetes.io/name=generator",
			"-o", "jsonpath={range .items[*]}{.status.containerStatuses[0].state.waiting.reason}: "+
				"{.status.containerStatuses[0].state.waiting.message}\n{end}")
		if err != nil {
			return err
		}
		if !strings.Contains(reasons, "CreateContainerConfigError") ||
			!strings.Contains(reasons, `"no-such-secret" not found`) {
			return fmt.Errorf("the reasons of the pods are %q", reasons)
		}
		t.Logf("reason of the pod: %s", strings.TrimSpace(reasons))
		return nil
	})
	// The old pod stays until the new one is ready, which never happens.
	asksByGrpcurl(t)
}
