// Package telemetry provides the logger, tracer and meter of one service. Nothing is global: six
// services in one process have six of each.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// instrumentationScope names the instrumentation in every span and metric.
const instrumentationScope = "github.com/triplemesh/triplemesh"

// servicePrefix stands before a stage's name in service.name.
const servicePrefix = "triplemesh-"

// Telemetry holds the providers of one service. All methods are safe for concurrent use.
type Telemetry struct {
	service    string
	logger     *slog.Logger
	tracing    *sdktrace.TracerProvider
	metrics    *metrics
	propagator propagation.TextMapPropagator
	bound      flushBound
}

// Start returns the telemetry of a service named by its stage, such as "verifier". The standard
// OTEL_* environment variables enable OTLP export of spans and metrics; metrics can always be
// scraped. The error names the invalid setting. Call Shutdown when the service ends.
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
	// The name overrides OTEL_SERVICE_NAME, which would give six services in one process the same
	// name.
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

// Discard returns telemetry that writes, exports and serves nothing. A SpanSink still collects
// spans.
func Discard() *Telemetry {
	return &Telemetry{
		service: "discard",
		logger:  slog.New(slog.DiscardHandler),
		tracing: sdktrace.NewTracerProvider(sdktrace.WithSampler(collectingSampler{sdktrace.AlwaysSample()}),
			sdktrace.WithSpanProcessor(newCollector())),
		metrics:    discardMetrics(),
		propagator: propagation.TraceContext{},
	}
}

// Service returns the name given to Start.
func (t *Telemetry) Service() string { return t.service }

// Logger returns the logger. Its Context methods add trace_id, span_id and request_id.
func (t *Telemetry) Logger() *slog.Logger { return t.logger }

// Tracer returns the tracer of the service.
func (t *Telemetry) Tracer() trace.Tracer { return t.tracing.Tracer(instrumentationScope) }

// Meter returns the meter of the service.
func (t *Telemetry) Meter() metric.Meter { return t.metrics.provider.Meter(instrumentationScope) }

// TracerProvider is for libraries that instrument themselves.
func (t *Telemetry) TracerProvider() trace.TracerProvider { return t.tracing }

// MeterProvider is for libraries that instrument themselves.
func (t *Telemetry) MeterProvider() metric.MeterProvider { return t.metrics.provider }

// Propagator propagates W3C trace context and baggage.
func (t *Telemetry) Propagator() propagation.TextMapPropagator { return t.propagator }

// MetricsHandler serves the metrics to a Prometheus scrape.
func (t *Telemetry) MetricsHandler() http.Handler {
	return promhttp.HandlerFor(t.metrics.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(t.logger.Handler(), slog.LevelWarn),
	})
}

// Shutdown flushes and ends the providers. It continues if ctx is already done, but never longer
// than Config.FlushTimeout.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	ctx, cancel := t.bound.withTimeout(ctx)
	defer cancel()
	if err := errors.Join(t.tracing.Shutdown(ctx), t.metrics.shutdown(ctx)); err != nil {
		return fmt.Errorf("shut down telemetry of %s: %w", t.service, err)
	}
	return nil
}

func logWriter(w io.Writer) io.Writer {
	if w == nil {
		return os.Stderr
	}
	return w
}

// Config is the telemetry of a service. The standard OTEL_* environment variables configure where
// spans go.
type Config struct {
	// LogLevel is debug, info, warn or error; empty means info.
	LogLevel string `koanf:"log_level" help:"debug, info, warn or error"`
	// LogFormat is text or json; empty means text.
	LogFormat string `koanf:"log_format" help:"text or json"`
	// LogRepeats bounds the lines of one message, level and code in one second; further ones are
	// dropped and counted. 0 means no limit. Audit lines are always written.
	LogRepeats int `koanf:"log_repeats" help:"limit of equal lines in one second; 0 for no limit"`
	// FlushTimeout bounds Shutdown; 0 means 5 s.
	FlushTimeout time.Duration `koanf:"flush_timeout" help:"limit of the time to send spans and metrics at shutdown"`
	// LogWriter receives the log; nil means standard error.
	LogWriter io.Writer `koanf:"-"`
	// Registry of the metrics, so that several services in one process can be scraped at one
	// address; nil means one of the service's own.
	Registry *prometheus.Registry `koanf:"-"`
}

const defaultFlush = 5 * time.Second

// DefaultConfig logs text from info up, at most 100 lines of a kind in a second.
func DefaultConfig() Config {
	return Config{LogLevel: "info", LogFormat: "text", LogRepeats: 100, FlushTimeout: defaultFlush}
}

// Validate returns an error for an invalid setting.
func (c Config) Validate() error {
	if _, err := c.level(); err != nil {
		return err
	}
	switch c.LogFormat {
	case "", "text", "json":
	default:
		return fmt.Errorf("log_format %q: want text or json", c.LogFormat)
	}
	if c.LogRepeats < 0 {
		return fmt.Errorf("log_repeats %d: want 0 or more", c.LogRepeats)
	}
	if c.FlushTimeout < 0 {
		return fmt.Errorf("flush_timeout %s: want 0 or more", c.FlushTimeout)
	}
	return nil
}

func (c Config) level() (slog.Level, error) {
	var level slog.Level
	if c.LogLevel == "" {
		return level, nil
	}
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return level, fmt.Errorf("log_level %q: want debug, info, warn or error", c.LogLevel)
	}
	return level, nil
}

// flushBound is the time limit of a shutdown.
type flushBound time.Duration

func (b flushBound) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if b == 0 {
		b = flushBound(defaultFlush)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), time.Duration(b))
}
