package telemetry

import (
	"context"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// metrics is a meter provider and the registry that it can be scraped from.
type metrics struct {
	provider  *sdkmetric.MeterProvider
	registry  *prometheus.Registry
	registers *undoRegisterer
}

// newMetrics makes the meter provider. A shared registry is told of the
// service alone: the process's own numbers are its owner's matter.
func newMetrics(ctx context.Context, res *resource.Resource, shared *prometheus.Registry) (*metrics, error) {
	m := &metrics{registry: shared}
	if shared == nil {
		m.registry = prometheus.NewRegistry()
		m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	m.registers = &undoRegisterer{Registerer: m.registry}
	// service.name as a label keeps the services apart in a shared registry.
	scrape, err := otelprometheus.New(otelprometheus.WithRegisterer(m.registers),
		otelprometheus.WithResourceAsConstantLabels(attribute.NewAllowKeysFilter("service.name")))
	if err != nil {
		return nil, err
	}
	opts := []sdkmetric.Option{sdkmetric.WithResource(res), sdkmetric.WithReader(scrape)}
	// "prometheus" is served already, at the address of the server's config.
	if exports("METRICS") && os.Getenv("OTEL_METRICS_EXPORTER") != "prometheus" {
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

// undoRegisterer remembers what was registered, so that a service that ends
// leaves nothing behind in a shared registry.
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
