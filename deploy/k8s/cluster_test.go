//go:build cluster

package k8s

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// TestAMissingSecretIsNamed applies a stage whose Secret does not exist to the cluster of
// KUBECONFIG. Its pod must wait, with an event that names the Secret.
func TestAMissingSecretIsNamed(t *testing.T) {
	const namespace, stage = "triplemesh-without-secret", "verifier"
	kubectl := func(stdin string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "kubectl", append([]string{"--namespace", namespace}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := kubectl("", "create", "namespace", namespace); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("kubectl", "delete", "namespace", namespace,
			"--wait=false").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	o := renderWith(t, "mtls")
	var manifests strings.Builder
	for key, object := range o {
		kind, name, _ := strings.Cut(key, "/")
		if (name != stage || kind == "Certificate") && kind != "ConfigMap" {
			continue
		}
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		manifests.WriteString("---\n" + string(text))
	}
	if out, err := kubectl(manifests.String(), "apply", "-f", "-"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const want = `secret "` + stage + `-tls" not found`
	events := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		out, err := kubectl("", "get", "events", "-o", "jsonpath={.items[*].message}")
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if events = out; !strings.Contains(events, want) {
			continue
		}
		out, err = kubectl("", "get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[*].ready}")
		if err != nil || strings.Contains(out, "true") {
			t.Errorf("the pod is ready without its Secret: %v, %s", err, out)
		}
		return
	}
	t.Errorf("no event reports that %s; the events: %s", want, events)
}
