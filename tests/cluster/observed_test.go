//go:build cluster

package cluster

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// unfed are the panels that have no data in this mesh, and why.
var unfed = map[string]string{
	"Callers turned away":         "there is no authentication",
	"Space left":                  "the kubelet measures no volumes of the host's path",
	"Time until certificates end": "there is no TLS",
}

// TestAnObservedMesh runs the components otel-collector and monitoring with a collector, Jaeger and
// Prometheus.
func TestAnObservedMesh(t *testing.T) {
	if *programs == "" {
		t.Skip("without -programs there are no images of Jaeger and Prometheus")
	}
	if _, err := run("", *programs, "otel-collector", "jaeger", "kube-state-metrics", "prometheus"); err != nil {
		t.Fatal(err)
	}
	if *build && !t.Run("the images are built and put into the cluster", images) {
		t.FailNow()
	}
	observed, err := run("", "kubectl", "kustomize", "observed")
	if err != nil {
		t.Fatal(err)
	}
	apply := func(manifest string) {
		if _, err := run(manifest, "kubectl", "apply", "-f", "-"); err != nil {
			t.Fatal(err)
		}
	}
	apply(inRepository(observed))
	apply(rules(t))
	t.Cleanup(func() { kubectl(t, "delete", "namespace", "monitoring") })
	waitForRollout(t, append(append([]string{"otel-collector"}, others...), stages...)...)
	for _, d := range []string{"jaeger", "kube-state-metrics", "prometheus"} {
		kubectl(t, "-n", "monitoring", "rollout", "status", "deployment/"+d, "--timeout="+patience.String())
	}
	loadSnapshots(t)
	t.Run("Jaeger has one trace of all six services, from the collector", tracesToJaeger)
	t.Run("every panel has data under load, and every rule evaluates", monitors)
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
	text, err := os.ReadFile(testkit.CheckoutFile(t, "deploy", "k8s", "components", "monitoring", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	fed, queries := 0, 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries++
			expr := strings.NewReplacer("$namespace", namespace, "$__rate_interval", "1m").Replace(target.Expr)
			find := func() error {
				var answer struct{ Data struct{ Result []any } }
				path := "/api/v1/query?query=" + url.QueryEscape(expr)
				if err := proxied("prometheus:9090", path, &answer); err != nil {
					return err
				}
				if len(answer.Data.Result) == 0 {
					return fmt.Errorf("%s has no data: %s", panel.Title, expr)
				}
				return nil
			}
			if reason, ok := unfed[panel.Title]; ok {
				t.Logf("%s: %s; %v", panel.Title, reason, find())
				continue
			}
			await(t, panel.Title, patience, find)
			fed++
		}
	}
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
	figure("dashboard and rules on live metrics", "%d of %d queries have data, %d rules evaluate, none fires", fed,
		queries, rules)
	noneFailed(t, l.report("questions that Prometheus and Jaeger observed"))
}

// rules returns a ConfigMap with the rules of the component monitoring as Prometheus reads them.
func rules(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(testkit.CheckoutFile(t, "deploy", "k8s", "components", "monitoring", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rule struct{ Spec any }
	if err := yaml.Unmarshal(text, &rule); err != nil {
		t.Fatal(err)
	}
	spec, err := yaml.Marshal(rule.Spec)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]string{"name": "triplemesh-rules", "namespace": "monitoring"},
		"data":     map[string]string{"triplemesh.yaml": string(spec)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(manifest)
}
