package tests

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// TestACollectorThatHangsCostsNoQuestion exports the spans of a mesh to a collector that accepts
// connections and never answers.
func TestACollectorThatHangsCostsNoQuestion(t *testing.T) {
	release := make(chan struct{})
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer collector.Close()
	defer close(release)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
	metrics := testkit.FreeAddr(t)
	m := start(t, options{model: scripted(t), http: true, set: map[string]string{
		"orchestrator.server.metrics_addr": metrics, "telemetry.flush_timeout": "1ms",
	}})
	for range 10 {
		if run := m.ask(t, question("pg-akv")); !strings.Contains(names(run), employer) {
			t.Errorf("answered %q", names(run))
		}
	}
	if lost := scraped(t, metrics, "triplemesh_telemetry_lost_spans_total"); lost == 0 {
		t.Error("no span is counted as lost")
	}
}

// TestAModelThatIsDownDoesNotFillTheLog asks many questions while the model is down.
func TestAModelThatIsDownDoesNotFillTheLog(t *testing.T) {
	model := scripted(t)
	model.Kill()
	log := &testkit.Log{}
	metrics := testkit.FreeAddr(t)
	m := start(t, options{model: model, http: true, log: log, set: map[string]string{
		"orchestrator.server.metrics_addr": metrics, "telemetry.log_level": "info", "telemetry.log_repeats": "1",
	}})
	const asked = 200
	for range asked {
		if _, err := m.orchestrator.Ask(timeoutContext(t, patience), question("io")); err == nil {
			t.Fatal("a model that is down answers")
		}
	}
	left := scraped(t, metrics, "triplemesh_telemetry_left_out_lines_total")
	lines := strings.Count(log.String(), "\n")
	// The orchestrator and the generator log one line each.
	if left == 0 || lines+left < 2*asked {
		t.Errorf("%d questions write %d lines, and %d are counted as left out", asked, lines, left)
	}
	if !strings.Contains(log.String(), "model") {
		t.Error("the log does not name the fault")
	}
}

// scraped returns the sum of a metric over all services.
func scraped(t *testing.T, addr, name string) (sum int) {
	t.Helper()
	resp, err := http.Get(fmt.Sprintf("http://%s/metrics", addr))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^`+name+`\{.*\} (\S+)$`).FindAllSubmatch(page, -1) {
		n, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += int(n)
	}
	return sum
}
