//go:build cluster

package cluster

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// namespace is the overlay's.
const namespace = "triplemesh"

// patience is the time limit for operations of the cluster.
const patience = 4 * time.Minute

// run runs a program and returns its output.
func run(stdin string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err,
			strings.TrimSpace(problems.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

func try(args ...string) (string, error) {
	return run("", "kubectl", append([]string{"-n", namespace}, args...)...)
}

func kubectl(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := try(args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func apply(tb testing.TB, manifest string) {
	tb.Helper()
	if _, err := run(manifest, "kubectl", "-n", namespace, "apply", "-f", "-"); err != nil {
		tb.Fatal(err)
	}
}

// await polls until check succeeds. The cluster offers no events for most conditions.
func await(tb testing.TB, what string, longest time.Duration, check func() error) {
	tb.Helper()
	end := time.Now().Add(longest)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			tb.Fatalf("%s: not after %s: %v", what, longest, err)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// waitForRollout waits until the rollouts of Deployments are complete.
func waitForRollout(tb testing.TB, deployments ...string) {
	tb.Helper()
	rollout(tb, namespace, deployments...)
}

func rollout(tb testing.TB, namespace string, deployments ...string) {
	tb.Helper()
	for _, d := range deployments {
		if _, err := run("", "kubectl", "-n", namespace, "rollout", "status", "deployment/"+d,
			"--timeout="+patience.String()); err != nil {
			// Why pods are not scheduled or do not start, such as a full disk, is in the events.
			warnings, _ := run("", "kubectl", "-n", namespace, "get", "events", "--field-selector=type=Warning",
				"--sort-by=.lastTimestamp")
			tb.Fatalf("%v\n%s", err, warnings)
		}
	}
}

func scale(tb testing.TB, deployment string, replicas int) {
	tb.Helper()
	kubectl(tb, "scale", "deployment/"+deployment, fmt.Sprintf("--replicas=%d", replicas))
	waitForRollout(tb, deployment)
}

// pod has the fields that the tests read.
type pod struct {
	Metadata struct {
		Name              string
		DeletionTimestamp *time.Time
	}
	Status struct {
		Phase      string
		Conditions []struct {
			Type, Status       string
			LastTransitionTime time.Time
		}
		ContainerStatuses []struct {
			ContainerID  string
			RestartCount int
			State        struct {
				Waiting *struct{ Reason, Message string }
			}
		}
	}
}

// ready returns since when the pod is ready, and whether it is.
func (p pod) ready() (time.Time, bool) {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" && p.Metadata.DeletionTimestamp == nil {
			return c.LastTransitionTime, true
		}
	}
	return time.Time{}, false
}

// pods returns the ready pods of a Deployment.
func pods(tb testing.TB, of string) []pod {
	tb.Helper()
	var list struct{ Items []pod }
	if err := json.Unmarshal([]byte(kubectl(tb, "get", "pods", "-l", "app.kubernetes.io/name="+of, "-o", "json")),
		&list); err != nil {
		tb.Fatal(err)
	}
	var ready []pod
	for _, p := range list.Items {
		if _, ok := p.ready(); ok {
			ready = append(ready, p)
		}
	}
	return ready
}

// scrape sums a metric of a pod over all series with the labels.
func scrape(tb testing.TB, p pod, metric string, labels ...string) float64 {
	tb.Helper()
	text := kubectl(tb, "get", "--raw", "/api/v1/namespaces/"+namespace+"/pods/"+p.Metadata.Name+":8080/proxy/metrics")
	sum := 0.0
lines:
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, metric)
		if !ok || rest == "" || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(rest, l) {
				continue lines
			}
		}
		fields := strings.Fields(line)
		var value float64
		if _, err := fmt.Sscan(fields[len(fields)-1], &value); err != nil {
			tb.Fatalf("read %q: %v", line, err)
		}
		sum += value
	}
	return sum
}

// forward forwards a local port to a Deployment's pod.
func forward(tb testing.TB, to string, port int) string {
	tb.Helper()
	return forwardIn(tb, namespace, to, port)
}

func forwardIn(tb testing.TB, namespace, to string, port int) string {
	tb.Helper()
	cmd := exec.Command("kubectl", "-n", namespace, "port-forward", to, fmt.Sprintf(":%d", port))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var local int
	if _, err := fmt.Fscanf(out, "Forwarding from 127.0.0.1:%d ->", &local); err != nil {
		tb.Fatalf("forward a port to %s: %v", to, err)
	}
	go func() {
		// kubectl exits if its output is not read.
		_, _ = new(bytes.Buffer).ReadFrom(out)
	}()
	return fmt.Sprintf("127.0.0.1:%d", local)
}

// secret waits for a field of a Secret.
func secret(t *testing.T, namespace, name, field string) []byte {
	t.Helper()
	var content []byte
	await(t, "the Secret "+name, patience, func() error {
		out, err := run("", "kubectl", "-n", namespace, "get", "secret", name, "-o", "json")
		if err != nil {
			return err
		}
		var s struct{ Data map[string]string }
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			return err
		}
		content, err = base64.StdEncoding.DecodeString(s.Data[field])
		if err == nil && len(content) == 0 {
			err = fmt.Errorf("%s has no %s", name, field)
		}
		return err
	})
	return content
}
