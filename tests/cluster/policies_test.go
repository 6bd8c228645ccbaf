//go:build cluster

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNetworkPolicies deploys the component network-policies where kube-router enforces it: what the
// mesh needs is let through, and nothing else.
func TestNetworkPolicies(t *testing.T) {
	needPrograms(t, "curl", "kube-router")
	deleteMesh(t)
	needImages(t)
	t.Cleanup(func() { deleteMesh(t) })
	applyKustomization(t, "enforced")
	waitForRollout(t, append(slices.Clone(others), stages...)...)
	loadSnapshots(t)
	const stranger = "app.kubernetes.io/name: stranger"
	probes := []struct {
		name, namespace, label string
		// open are the addresses that stay within reach once policies are enforced.
		open []string
	}{
		{"a caller", namespace, `triplemesh.dev/caller: "true"`, []string{
			"orchestrator:9090", "orchestrator:9080", "retriever:9090"}},
		{"a pod of the namespace", namespace, stranger, nil},
		{"the orchestrator's label", namespace, "app.kubernetes.io/name: orchestrator", []string{
			"retriever:9090", "generator:9090", "verifier:9090", "evaluator:9090", "reflector:9090"}},
		{"a stage that calls the model", namespace, `triplemesh.dev/calls-model: "true"`, []string{
			"scripted-llm:8080"}},
		{"a pod of another namespace", "default", stranger, nil},
	}
	addresses := []string{"orchestrator:9090", "orchestrator:9080", "orchestrator:8080", "retriever:9090",
		"generator:9090", "verifier:9090", "evaluator:9090", "reflector:9090", "scripted-llm:8080"}
	// Nothing is enforced yet: each of them is there.
	if got := findReachable(t, "default", stranger, addresses); !slices.Equal(got, addresses) {
		t.Fatalf("without enforcement a pod reaches %v, want all of %v", got, addresses)
	}
	enforce(t)
	await(t, "enforcement", patience, func() error {
		if got := findReachable(t, "default", stranger, addresses[:1]); len(got) > 0 {
			return fmt.Errorf("a pod of another namespace reaches %v", got)
		}
		return nil
	})
	for _, probe := range probes {
		t.Run(probe.name+" reaches what its policies allow", func(t *testing.T) {
			want := slices.DeleteFunc(slices.Clone(addresses), func(a string) bool {
				return !slices.Contains(probe.open, a)
			})
			await(t, "the policies of a new pod", time.Minute, func() error {
				if got := findReachable(t, probe.namespace, probe.label, addresses); !slices.Equal(got, want) {
					return fmt.Errorf("it reaches %v, want %v", got, want)
				}
				return nil
			})
		})
	}
	t.Run("questions are answered and traced", func(t *testing.T) {
		noneFailed(t, begin(t, "-addr", "dns:///orchestrator:9090", "-rate", rateFlag(), "-count", countFlag(4)).
			report("questions while network policies are enforced"))
		traces(t)
	})
	figure("network policies enforced by kube-router", "%d of %d connections of %d kinds of pods are open",
		len(slices.Concat(probes[0].open, probes[2].open, probes[3].open)), len(probes)*len(addresses), len(probes))
}

// enforce has network policies enforced until the test ends.
func enforce(t *testing.T) {
	t.Helper()
	if _, err := run("", onNode("policies.sh"), "start"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := run("", onNode("policies.sh"), "stop"); err != nil {
			t.Error(err)
		}
	})
}

// findReachable returns the addresses of the mesh that a pod with the label connects to.
func findReachable(t *testing.T, in, label string, addresses []string) []string {
	t.Helper()
	var fetcher struct {
		Spec struct {
			Template struct {
				Spec struct {
					InitContainers []struct{ Image string } `yaml:"initContainers"`
				}
			}
		}
	}
	component(t, "model-server-llama/model-server.yaml", &fetcher)
	name := fmt.Sprintf("probe-%d", loads.Add(1))
	// The policies of a new pod take a moment. curl ends with 6 if there is no such name, with 7 or 28
	// if there is no connection.
	script := `sleep 5; for a in "$@"; do curl -s -o /dev/null --max-time 3 "http://${a%%:*}.` + namespace +
		`.svc.cluster.local:${a##*:}"; echo "$a $?"; done`
	manifest := fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: %s
  labels: {%s}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: probe
      image: %s
      command: [sh, -c, %q, probe, %s]
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
`, name, in, label, fetcher.Spec.Template.Spec.InitContainers[0].Image, script, quoteAll(addresses))
	applyAnywhere(t, manifest)
	defer func() { _, _ = run("", "kubectl", "-n", in, "delete", "pod", name, "--wait=false") }()
	var out string
	await(t, "end of "+name, patience, func() error {
		phase, err := run("", "kubectl", "-n", in, "get", "pod", name, "-o", "jsonpath={.status.phase}")
		if err != nil || phase != "Succeeded" {
			return fmt.Errorf("%s is %s: %w", name, phase, err)
		}
		out, err = run("", "kubectl", "-n", in, "logs", name)
		return err
	})
	open := map[string]bool{}
	for line := range strings.Lines(out) {
		address, code, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch code {
		case "6":
			t.Fatalf("%s cannot resolve %s", name, address)
		case "7", "28":
		default:
			open[address] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return !open[a] })
}

func quoteAll(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, ", ")
}
