//go:build cluster

package cluster

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// Panels that do not have data from the start.
var (
	// unmeasured: the kubelet measures no volumes of the host's path.
	unmeasured = []string{"Space left"}
	// ofLocks have data where there are certificates, tokens and quotas.
	ofLocks = []string{"Callers turned away", "Time until certificates end"}
)

// TestAnObservedMesh runs the components otel-collector and monitoring with a collector, Jaeger and
// Prometheus.
func TestAnObservedMesh(t *testing.T) {
	watchers := []string{"jaeger", "kube-state-metrics", "prometheus", "prometheus-adapter"}
	needPrograms(t, append(watchers, "otel-collector")...)
	needImages(t)
	applyKustomization(t, "observed")
	applyAnywhere(t, settings(t))
	t.Cleanup(func() {
		// While an API is announced that nobody serves, no namespace can be deleted.
		kubectl(t, "delete", "apiservice", "v1beta1.custom.metrics.k8s.io")
		kubectl(t, "delete", "namespace", "monitoring")
	})
	waitForRollout(t, append(append([]string{"otel-collector"}, others...), stages...)...)
	rollout(t, "monitoring", watchers...)
	loadSnapshots(t)
	t.Run("Jaeger has one trace of all six services, from the collector", tracesToJaeger)
	t.Run("every panel has data under load, and every rule evaluates", monitors)
	t.Run("the HPA follows the RPCs under way", scalesByCalls)
	t.Run("certificates and tokens lock the mesh and the dashboard shows it", isLocked)
}

// proxied reads a path of a Service of the namespace monitoring.
func proxied(service, path string, into any) error {
	out, err := run("", "kubectl", "get", "--raw", "/api/v1/namespaces/monitoring/services/"+service+"/proxy"+path)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), into)
}

func tracesToJaeger(t *testing.T) {
	const trace = "5bf92f3577b34da6a3ce929d0e0e4737"
	askInTrace(t, trace)
	await(t, "spans of six services", patience, func() error {
		var found struct {
			Data []struct {
				Spans     []struct{ SpanID, ProcessID string }
				Processes map[string]struct {
					ServiceName string
					Tags        []struct {
						Key   string
						Value any
					}
				}
			}
		}
		if err := proxied("jaeger:16686", "/api/traces/"+trace, &found); err != nil {
			return err
		}
		if len(found.Data) != 1 {
			return fmt.Errorf("there are %d traces", len(found.Data))
		}
		services, pods := map[string]bool{}, map[any]bool{}
		for _, p := range found.Data[0].Processes {
			services[p.ServiceName] = true
			for _, tag := range p.Tags {
				if tag.Key == "k8s.pod.name" {
					pods[tag.Value] = true
				}
			}
		}
		for _, s := range stages {
			if !services["triplemesh-"+s] {
				return fmt.Errorf("of %d spans none is of the %s", len(found.Data[0].Spans), s)
			}
		}
		if len(pods) != len(stages) {
			return fmt.Errorf("the spans are of %d pods", len(pods))
		}
		figure("one trace in Jaeger, by the collector", "%d spans of %d services in %d pods", len(found.Data[0].Spans),
			len(services), len(pods))
		return nil
	})
}

func monitors(t *testing.T) {
	l := begin(t, "-rate", rateFlag(), "-count", countFlag(1))
	addr := forward(t, "deployment/orchestrator", 9090)
	for _, method := range []string{"pg-akv", "ger"} {
		grpcurl(t, addr, method, "")
	}
	if answer, err := ask(t, addr, "no-such-method"); err == nil {
		t.Errorf("a method that there is not answers %s", answer)
	}
	fed := panelsHaveData(t, func(title string) bool { return !slices.Contains(append(unmeasured, ofLocks...), title) })
	var evaluated struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError, State string }
			}
		}
	}
	rules := 0
	await(t, "evaluation of the rules", patience, func() error {
		if err := proxied("prometheus:9090", "/api/v1/rules", &evaluated); err != nil {
			return err
		}
		rules = 0
		for _, g := range evaluated.Data.Groups {
			for _, r := range g.Rules {
				rules++
				if r.Health != "ok" || r.State == "firing" {
					return fmt.Errorf("%s is %s and %s: %s", r.Name, r.Health, r.State, r.LastError)
				}
			}
		}
		if rules == 0 {
			return fmt.Errorf("there are no rules")
		}
		return nil
	})
	figure("dashboard and rules on live metrics", "%d queries have data, %d rules evaluate, none fires", fed, rules)
	noneFailed(t, l.report("questions that Prometheus and Jaeger observed"))
}

// panelsHaveData requires that Prometheus answers the queries of the dashboard's panels of the titles,
// and returns their number.
func panelsHaveData(t *testing.T, of func(title string) bool) int {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	component(t, "monitoring/dashboard.json", &dashboard)
	queries := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			if !of(panel.Title) {
				continue
			}
			queries++
			expr := strings.NewReplacer("$namespace", namespace, "$__rate_interval", "1m").Replace(target.Expr)
			await(t, panel.Title, patience, func() error {
				var answer struct{ Data struct{ Result []any } }
				path := "/api/v1/query?query=" + url.QueryEscape(expr)
				if err := proxied("prometheus:9090", path, &answer); err != nil {
					return err
				}
				if len(answer.Data.Result) == 0 {
					return fmt.Errorf("there is no data: %s", expr)
				}
				return nil
			})
		}
	}
	return queries
}

// isLocked requires that a mesh with certificates of the cluster answers to tokens alone, within
// quotas, and that the dashboard shows it.
func isLocked(t *testing.T) {
	needPrograms(t, "cert-manager")
	bin := testkit.CheckoutFile(t, "bin", "triplemesh")
	tokens := filepath.Join(t.TempDir(), "tokens")
	token, err := run("", bin, "token", "new", "--file", tokens, "--tenant", "default", "--name", "test",
		"--scope", "ask")
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "create", "secret", "generic", "triplemesh-tokens", "--from-file="+tokens)
	t.Cleanup(func() { kubectl(t, "delete", "secret", "triplemesh-tokens") })
	begun := time.Now()
	applyKustomization(t, "locked")
	waitForRollout(t, stages...)
	figure("mesh locked by certificates of cert-manager", "all six stages ready after %.0f s",
		time.Since(begun).Seconds())
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, secret(t, namespace, "orchestrator-tls", "ca.crt"), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := forward(t, "deployment/orchestrator", 9090)
	tls := []string{"-cacert", file, "-authority", "orchestrator"}
	bearer := append(tls, "-H", "authorization: Bearer "+token)
	await(t, "an answer to a token", patience, func() error {
		out, err := askOver(t, addr, "pg-akv", bearer...)
		if err == nil && !strings.Contains(out, employer) {
			err = fmt.Errorf("got %s", out)
		}
		return err
	})
	if out, err := askOver(t, addr, "pg-akv", "-plaintext"); err == nil {
		t.Errorf("without TLS there is an answer: %s", out)
	}
	refuses := func(code string, args ...string) {
		await(t, code, patience, func() error {
			out, err := askOver(t, addr, "pg-akv", args...)
			if err == nil || !strings.Contains(err.Error(), code) {
				return fmt.Errorf("want %s, got %s: %w", code, out, err)
			}
			return nil
		})
	}
	refuses("Unauthenticated", tls...)
	refuses("ResourceExhausted", bearer...)
	panelsHaveData(t, func(title string) bool { return slices.Contains(ofLocks, title) })
}

// scalesByCalls requires that the HPA of autoscale-in-flight counts RPCs under way, through
// prometheus-adapter with the component's rules.
func scalesByCalls(t *testing.T) {
	hpa, err := run("", "kubectl", "kustomize", "observed/autoscaled")
	if err != nil {
		t.Fatal(err)
	}
	followsLoad(t, "HPA on RPCs under way", hpa, 32, func() error {
		_, err := run("", "kubectl", "get", "--raw", "/apis/custom.metrics.k8s.io/v1beta1/namespaces/"+namespace+
			"/pods/*/triplemesh_rpc_in_flight?labelSelector=app.kubernetes.io%2Fname%3Dretriever")
		return err
	})
}

// settings are the rules of the components monitoring and autoscale-in-flight, as ConfigMaps that
// Prometheus and its adapter read.
func settings(t *testing.T) string {
	t.Helper()
	var alerts struct{ Spec any }
	component(t, "monitoring/rules.yaml", &alerts)
	// The component has them as values of the adapter's chart.
	var values struct{ Rules struct{ Custom any } }
	component(t, "autoscale-in-flight/prometheus-adapter-rules.yaml", &values)
	return configMap(t, "triplemesh-rules", "triplemesh.yaml", alerts.Spec) + "\n" +
		configMap(t, "prometheus-adapter", "config.yaml", map[string]any{"rules": values.Rules.Custom})
}

// component reads a file of a component.
func component(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(testkit.CheckoutFile(t, "deploy", "k8s", "components", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func configMap(t *testing.T, name, file string, content any) string {
	t.Helper()
	text, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]string{"name": name, "namespace": "monitoring"},
		"data":     map[string]string{file: string(text)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(manifest)
}
