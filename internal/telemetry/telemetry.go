// Package telemetry gives one service its logger, tracer and meter. Nothing in
// it is global: six services in one process have six of everything.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope names the instrumentation in every span and metric.
const scope = "github.com/triplemesh/triplemesh"

// servicePrefix stands before a stage's name in service.name.
const servicePrefix = "triplemesh-"

// Telemetry holds the providers of one service. All methods are safe for
// concurrent use.
type Telemetry struct {
	service    string
	logger     *slog.Logger
	tracing    *sdktrace.TracerProvider
	metrics    *metrics
	propagator propagation.TextMapPropagator
	bound      flushBound
}

// Start makes the telemetry of a service named by its stage, such as
// "verifier". Spans and metrics go to OTLP where the standard OTEL_*
// environment variables ask for it; metrics are always there for scraping. The
// error names the setting that is wrong. Call Shutdown when the service ends.
func Start(ctx context.Context, cfg Config, service string) (*Telemetry, error) {
	lost := &loss{}
	handler, err := newLogHandler(cfg, service, lost)
	if err != nil {
		return nil, fmt.Errorf("start telemetry of %s: %w", service, err)
	}
	t := &Telemetry{
		service:    service,
		logger:     slog.New(handler),
		propagator: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
		bound:      flushBound(cfg.FlushTimeout),
	}
	// OTEL_SERVICE_NAME comes first and loses: it would give six services in
	// one process the same name.
	res, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", servicePrefix+service)))
	if err != nil {
		return nil, fmt.Errorf("start telemetry of %s: OTEL_RESOURCE_ATTRIBUTES: %w", service, err)
	}
	if t.tracing, err = newTracing(ctx, res, lost, t.logger); err != nil {
		return nil, fmt.Errorf("start telemetry of %s: traces: %w", service, err)
	}
	if t.metrics, err = newMetrics(ctx, res, cfg.Registry); err != nil {
		return nil, errors.Join(fmt.Errorf("start telemetry of %s: metrics: %w", service, err), t.tracing.Shutdown(ctx))
	}
	if err := lost.observe(t.Meter()); err != nil {
		return nil, errors.Join(fmt.Errorf("start telemetry of %s: metrics: %w", service, err), t.Shutdown(ctx))
	}
	return t, nil
}

// Discard is telemetry that writes, exports and serves nothing. Spans are made
// all the same, so that a SpanSink still collects them.
func Discard() *Telemetry {
	return &Telemetry{
		service:    "discard",
		logger:     slog.New(slog.DiscardHandler),
		tracing:    sdktrace.NewTracerProvider(sdktrace.WithSampler(collecting{sdktrace.AlwaysSample()}), sdktrace.WithSpanProcessor(newCollector())),
		metrics:    discardMetrics(),
		propagator: propagation.TraceContext{},
	}
}

// Service is the stage's name that Start was given.
func (t *Telemetry) Service() string { return t.service }

// Logger writes to the log. Use its Context methods: they add trace_id,
// span_id and request_id.
func (t *Telemetry) Logger() *slog.Logger { return t.logger }

// Tracer starts spans.
func (t *Telemetry) Tracer() trace.Tracer { return t.tracing.Tracer(scope) }

// Meter makes instruments.
func (t *Telemetry) Meter() metric.Meter { return t.metrics.provider.Meter(scope) }

// TracerProvider is for libraries that instrument themselves.
func (t *Telemetry) TracerProvider() trace.TracerProvider { return t.tracing }

// MeterProvider is for libraries that instrument themselves.
func (t *Telemetry) MeterProvider() metric.MeterProvider { return t.metrics.provider }

// Propagator carries W3C trace context and baggage over a hop.
func (t *Telemetry) Propagator() propagation.TextMapPropagator { return t.propagator }

// MetricsHandler serves the metrics to a Prometheus scrape.
func (t *Telemetry) MetricsHandler() http.Handler {
	return promhttp.HandlerFor(t.metrics.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(t.logger.Handler(), slog.LevelWarn),
	})
}

// Shutdown sends what is not yet sent and ends the providers. It is called
// when things end, so it goes on where ctx is done already, but never longer
// than Config.FlushTimeout.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	ctx, cancel := t.bound.of(ctx)
	defer cancel()
	if err := errors.Join(t.tracing.Shutdown(ctx), t.metrics.shutdown(ctx)); err != nil {
		return fmt.Errorf("shut telemetry of %s down: %w", t.service, err)
	}
	return nil
}

func logWriter(w io.Writer) io.Writer {
	if w == nil {
		return os.Stderr
	}
	return w
}
