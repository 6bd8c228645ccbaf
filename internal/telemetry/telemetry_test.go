package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// clear takes the OpenTelemetry variables of the machine away.
func clear(t *testing.T) {
	t.Helper()
	for _, key := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_TRACES_SAMPLER",
		"OTEL_TRACES_SAMPLER_ARG",
	} {
		t.Setenv(key, "")
	}
}

func begin(t *testing.T, cfg telemetry.Config, service string) *telemetry.Telemetry {
	t.Helper()
	tel, err := telemetry.Start(t.Context(), cfg, service)
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

func end(t *testing.T, tel *telemetry.Telemetry) {
	t.Helper()
	if err := tel.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestLogsCarryTheRequest(t *testing.T) {
	clear(t)
	var log bytes.Buffer
	tel := begin(t, telemetry.Config{LogFormat: "json", LogWriter: &log}, "verifier")
	defer end(t, tel)
	ctx, span := tel.Tracer().Start(telemetry.WithRequestID(t.Context(), "ask-1"), "verify")
	tel.Logger().DebugContext(ctx, "not shown")
	tel.Logger().With("kg", "wikidata").InfoContext(ctx, "verified", "edits", 3)
	span.End()
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	for key, want := range map[string]any{
		"msg": "verified", "service": "verifier", "kg": "wikidata", "edits": 3.0, "request_id": "ask-1",
		"trace_id": span.SpanContext().TraceID().String(), "span_id": span.SpanContext().SpanID().String(),
	} {
		if line[key] != want {
			t.Errorf("%s: got %v, want %v", key, line[key], want)
		}
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  telemetry.Config
		env  map[string]string
		want string
	}{
		{name: "a level", cfg: telemetry.Config{LogLevel: "loud"}, want: `log_level "loud"`},
		{name: "a format", cfg: telemetry.Config{LogFormat: "xml"}, want: `log_format "xml"`},
		{name: "a timeout", cfg: telemetry.Config{FlushTimeout: -1}, want: "flush_timeout"},
		{name: "a sampler", env: map[string]string{"OTEL_TRACES_SAMPLER": "coin"}, want: "OTEL_TRACES_SAMPLER=coin"},
		{name: "a share", env: map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio",
			"OTEL_TRACES_SAMPLER_ARG": "NaN"}, want: "OTEL_TRACES_SAMPLER_ARG=NaN"},
		{name: "an exporter of traces", env: map[string]string{"OTEL_TRACES_EXPORTER": "pigeon"}, want: "traces"},
		{name: "an exporter of metrics", env: map[string]string{"OTEL_METRICS_EXPORTER": "pigeon"}, want: "metrics"},
	} {
		t.Run(test.name, func(t *testing.T) {
			clear(t)
			for key, value := range test.env {
				t.Setenv(key, value)
			}
			_, err := telemetry.Start(t.Context(), test.cfg, "verifier")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "verifier") {
				t.Errorf("got error %v, want %s and the service in it", err, test.want)
			}
		})
	}
}

// traces receives OTLP over gRPC.
type traces struct {
	collectorv1.UnimplementedTraceServiceServer
	got chan *collectorv1.ExportTraceServiceRequest
}

func (s traces) Export(_ context.Context,
	req *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	s.got <- req
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

func TestSpansAreExported(t *testing.T) {
	got := make(chan *collectorv1.ExportTraceServiceRequest, 1)
	overHTTP := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/traces" {
			return // metrics
		}
		body, err := io.ReadAll(r.Body)
		req := &collectorv1.ExportTraceServiceRequest{}
		if err != nil || proto.Unmarshal(body, req) != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		got <- req
	}))
	defer overHTTP.Close()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	overGRPC := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(overGRPC, traces{got: got})
	go overGRPC.Serve(lis)
	defer overGRPC.Stop()

	for _, test := range []struct {
		name string
		env  map[string]string
	}{
		{"over HTTP", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": overHTTP.URL}},
		{"over gRPC", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://" + lis.Addr().String(),
			"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			clear(t)
			t.Setenv("OTEL_SERVICE_NAME", "something else")
			for key, value := range test.env {
				t.Setenv(key, value)
			}
			tel := begin(t, telemetry.Config{}, "verifier")
			_, span := tel.Tracer().Start(t.Context(), "verify")
			span.End()
			end(t, tel)
			spans := (<-got).GetResourceSpans()
			if name := spans[0].GetScopeSpans()[0].GetSpans()[0].GetName(); name != "verify" {
				t.Errorf("got span %q, want verify", name)
			}
			service := ""
			for _, a := range spans[0].GetResource().GetAttributes() {
				if a.GetKey() == "service.name" {
					service = a.GetValue().GetStringValue()
				}
			}
			if service != "triplemesh-verifier" {
				t.Errorf("got service.name %q, want triplemesh-verifier", service)
			}
		})
	}
}

func TestAnAbsentCollectorHoldsNothingUp(t *testing.T) {
	clear(t)
	release := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer stuck.Close()
	defer close(release)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", stuck.URL)
	var log testkit.Log // what is late is told of after the end
	tel := begin(t, telemetry.Config{LogWriter: &log, FlushTimeout: time.Millisecond}, "verifier")
	_, span := tel.Tracer().Start(t.Context(), "verify")
	span.End()
	if err := tel.Shutdown(context.Background()); err == nil && !strings.Contains(log.String(),
		"spans not sent before shutdown") {
		t.Error("the loss of a span is not logged")
	}
}

func TestMetricsOfSeveralServicesShareARegistry(t *testing.T) {
	clear(t)
	registry := prometheus.NewRegistry()
	scrape := func(tel *telemetry.Telemetry) string {
		page := httptest.NewRecorder()
		tel.MetricsHandler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return page.Body.String()
	}
	count := func(service string) *telemetry.Telemetry {
		tel := begin(t, telemetry.Config{Registry: registry}, service)
		edits, err := tel.Meter().Int64Counter("triplemesh.edits")
		if err != nil {
			t.Fatal(err)
		}
		edits.Add(t.Context(), 3)
		return tel
	}
	verifier, reflector := count("verifier"), count("reflector")
	page := scrape(verifier)
	for _, service := range []string{"verifier", "reflector"} {
		if !strings.Contains(page, `service_name="triplemesh-`+service+`"} 3`) {
			t.Errorf("the metrics lack the %s's:\n%s", service, page)
		}
	}
	end(t, verifier)
	if page := scrape(reflector); strings.Contains(page, "triplemesh-verifier") ||
		!strings.Contains(page, "triplemesh-reflector") {
		t.Errorf("after the verifier's end:\n%s", page)
	}
	end(t, count("verifier"))
	end(t, reflector)
}
