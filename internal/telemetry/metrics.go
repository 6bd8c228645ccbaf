package telemetry

import (
	"context"
	"os"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// metrics is a meter provider and the registry that it can be scraped from.
type metrics struct {
	provider  *sdkmetric.MeterProvider
	registry  *prometheus.Registry
	registers *undoRegisterer
}

// newMetrics returns the meter provider. A shared registry receives only the metrics of the service:
// those of the process belong to the owner of the registry.
func newMetrics(ctx context.Context, res *resource.Resource, shared *prometheus.Registry) (*metrics, error) {
	m := &metrics{registry: shared}
	if shared == nil {
		m.registry = prometheus.NewRegistry()
		m.registry.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	m.registers = &undoRegisterer{Registerer: m.registry}
	// service.name as a label keeps the services apart in a shared registry.
	scrape, err := otelprometheus.New(otelprometheus.WithRegisterer(m.registers),
		otelprometheus.WithResourceAsConstantLabels(attribute.NewAllowKeysFilter("service.name")))
	if err != nil {
		return nil, err
	}
	opts := []sdkmetric.Option{sdkmetric.WithResource(res), sdkmetric.WithReader(scrape)}
	// "prometheus" is already served at the address of the server's configuration.
	if isExported("METRICS") && os.Getenv("OTEL_METRICS_EXPORTER") != "prometheus" {
		reader, err := autoexport.NewMetricReader(ctx)
		if err != nil {
			m.registers.undo()
			return nil, err
		}
		opts = append(opts, sdkmetric.WithReader(reader))
	}
	m.provider = sdkmetric.NewMeterProvider(opts...)
	return m, nil
}

func discardMetrics() *metrics {
	registry := prometheus.NewRegistry()
	return &metrics{
		provider:  sdkmetric.NewMeterProvider(),
		registry:  registry,
		registers: &undoRegisterer{Registerer: registry},
	}
}

func (m *metrics) shutdown(ctx context.Context) error {
	m.registers.undo()
	return m.provider.Shutdown(ctx)
}

// undoRegisterer can unregister everything, so that a service that ends leaves nothing in a shared
// registry.
type undoRegisterer struct {
	prometheus.Registerer
	collectors []prometheus.Collector
}

func (r *undoRegisterer) Register(c prometheus.Collector) error {
	if err := r.Registerer.Register(c); err != nil {
		return err
	}
	r.collectors = append(r.collectors, c)
	return nil
}

func (r *undoRegisterer) undo() {
	for _, c := range r.collectors {
		r.Unregister(c)
	}
	r.collectors = nil
}

// maxOpen bounds the open spans of a collector: one that never ends would be kept for ever.
const maxOpen = 1 << 16

// collector passes every finished span to the sink of the context it was started in. The sink is
// looked up at the start, because OnEnd has no context.
type collector struct {
	mu   sync.Mutex
	open map[spanKey]*SpanSink
}

type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

func newCollector() *collector { return &collector{open: map[spanKey]*SpanSink{}} }

func (c *collector) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	sink := SpanSinkFrom(ctx)
	if sink == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) < maxOpen {
		c.open[keyOf(s)] = sink
	}
}

func (c *collector) OnEnd(s sdktrace.ReadOnlySpan) {
	if sink := c.take(keyOf(s)); sink != nil {
		sink.Add(spanProto(s, s.EndTime()))
	}
}

func (c *collector) take(key spanKey) *SpanSink {
	c.mu.Lock()
	defer c.mu.Unlock()
	sink := c.open[key]
	delete(c.open, key)
	return sink
}

func (c *collector) Shutdown(context.Context) error { return nil }

func (c *collector) ForceFlush(context.Context) error { return nil }

func keyOf(s sdktrace.ReadOnlySpan) spanKey {
	return spanKey{s.SpanContext().TraceID(), s.SpanContext().SpanID()}
}
