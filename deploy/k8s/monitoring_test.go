package k8s

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/otlptranslator"
	"github.com/prometheus/prometheus/promql/parser"
)

// instrument matches the creation of a meter's instrument in the code.
var instrument = regexp.MustCompile(
	`(?:Int64|Float64)(?:Observable)?(Counter|UpDownCounter|Gauge|Histogram)\(\s*"([a-z0-9_.]+)"`)

var unit = regexp.MustCompile(`WithUnit\("([^"]*)"\)`)

// elsewhere are metrics that others serve: gRPC's instrumentation, the process, and the cluster.
var elsewhere = []string{
	"rpc_server_call_duration_seconds", "process_cpu_seconds_total", "process_resident_memory_bytes",
	"kube_deployment_status_replicas_available", "kube_pod_container_status_restarts_total",
	"kube_horizontalpodautoscaler_status_current_replicas", "kube_horizontalpodautoscaler_spec_max_replicas",
	"kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes",
}

// served returns the names of the stages' metrics in Prometheus.
func served(t *testing.T) []string {
	t.Helper()
	namer := otlptranslator.NewMetricNamer("", otlptranslator.UnderscoreEscapingWithSuffixes)
	types := map[string]otlptranslator.MetricType{
		"Counter":       otlptranslator.MetricTypeMonotonicCounter,
		"UpDownCounter": otlptranslator.MetricTypeNonMonotonicCounter,
		"Gauge":         otlptranslator.MetricTypeGauge, "Histogram": otlptranslator.MetricTypeHistogram,
	}
	all := slices.Clone(elsewhere)
	for _, root := range []string{"internal", "services"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found := instrument.FindAllSubmatchIndex(text, -1)
			for i, m := range found {
				// The description of an instrument ends where the next one begins.
				end := len(text)
				if i+1 < len(found) {
					end = found[i+1][0]
				}
				metric := otlptranslator.Metric{Name: string(text[m[4]:m[5]]), Type: types[string(text[m[2]:m[3]])]}
				if u := unit.FindSubmatch(text[m[1]:end]); u != nil {
					metric.Unit = string(u[1])
				}
				name, err := namer.Build(metric)
				if err != nil {
					return err
				}
				all = append(all, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// metricsIn returns the metrics that an expression reads.
func metricsIn(t *testing.T, expr string) []string {
	t.Helper()
	// A variable of Grafana's, which the parser does not know.
	expr = strings.ReplaceAll(expr, "$__rate_interval", "5m")
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Errorf("%s: %v", expr, err)
		return nil
	}
	var all []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			name := v.Name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, suffix)
			}
			all = append(all, name)
		}
		return nil
	})
	return all
}

func TestEveryPanelShowsMetricsThatAreServed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("components", "monitoring", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	known, seen := served(t), 0
	for _, p := range dashboard.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			for _, name := range metricsIn(t, target.Expr) {
				seen++
				if !slices.Contains(known, name) {
					t.Errorf("panel %q asks for %s, which no stage serves", p.Title, name)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no panel asks for anything")
	}
}

// alert is a rule as Prometheus reads it.
type alert struct {
	Alert, Expr, For string
	Labels           map[string]string
	Annotations      map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	rule, ok := renderWith(t, "monitoring")[id("PrometheusRule", "triplemesh")].(map[string]any)
	if !ok {
		t.Fatal("there are no rules")
	}
	text, err := json.Marshal(rule["spec"])
	if err != nil {
		t.Fatal(err)
	}
	var spec struct{ Groups []struct{ Rules []alert } }
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, g := range spec.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func TestEveryAlertHasItsRunbook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := served(t)
	var headings []string
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "### Triplemesh"); ok {
			headings = append(headings, "Triplemesh"+name)
		}
	}
	for _, a := range alerts(t) {
		for _, name := range metricsIn(t, a.Expr) {
			if !slices.Contains(known, name) {
				t.Errorf("%s asks for %s, which no stage serves", a.Alert, name)
			}
		}
		_, anchor, _ := strings.Cut(a.Annotations["runbook_url"], "docs/operations.md#")
		if anchor != strings.ToLower(a.Alert) || a.Annotations["summary"] == "" || a.Labels["severity"] == "" {
			t.Errorf("%s lacks its summary, its severity or its runbook", a.Alert)
		}
		i := slices.Index(headings, a.Alert)
		if i < 0 {
			t.Errorf("%s has no heading in docs/operations.md", a.Alert)
			continue
		}
		headings = slices.Delete(headings, i, i+1)
	}
	if len(headings) > 0 {
		t.Errorf("there is no alert for the runbooks %q", headings)
	}
}

func TestTheScalerFollowsAMetricThatIsServed(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join("components", "autoscale-in-flight", "prometheus-adapter-rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const name = "triplemesh_rpc_in_flight"
	if !slices.Contains(served(t), name) || !strings.Contains(string(rules), name+"{") {
		t.Errorf("the rules do not read %s, or no stage serves it", name)
	}
}
