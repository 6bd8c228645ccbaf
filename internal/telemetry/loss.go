package telemetry

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// loss counts what was to be told and is not. Nothing waits for a collector:
// what it does not take in time is lost, and this says how much.
type loss struct {
	queueFull   atomic.Int64 // spans that found no place
	notExported atomic.Int64 // spans that were sent and not taken
	unsent      atomic.Int64 // spans that waited at the end
	lines       atomic.Int64 // lines of the log, which repeated others
}

// observe makes metrics of it.
func (l *loss) observe(meter metric.Meter) error {
	if _, err := meter.Int64ObservableCounter("triplemesh.telemetry.lost_spans",
		metric.WithDescription("Spans that no collector has, by reason."), metric.WithUnit("{span}"),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			for reason, n := range map[string]*atomic.Int64{"queue_full": &l.queueFull, "not_exported": &l.notExported, "unsent": &l.unsent} {
				o.Observe(n.Load(), metric.WithAttributes(attribute.String("reason", reason)))
			}
			return nil
		})); err != nil {
		return err
	}
	_, err := meter.Int64ObservableCounter("triplemesh.telemetry.left_out_lines",
		metric.WithDescription("Lines of the log that were left out, as many others said the same."), metric.WithUnit("{line}"),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(l.lines.Load())
			return nil
		}))
	return err
}

// exporting sends spans in batches, and counts those that are lost. The SDK's
// own processor drops what finds no place in its queue and tells nobody; so no
// more are given to it than it has places.
type exporting struct {
	sdktrace.SpanProcessor
	places  int64
	waiting *atomic.Int64
	loss    *loss
	log     *slog.Logger
}

func newExporting(exporter sdktrace.SpanExporter, loss *loss, log *slog.Logger) *exporting {
	p := &exporting{places: places(), waiting: &atomic.Int64{}, loss: loss, log: log}
	p.SpanProcessor = sdktrace.NewBatchSpanProcessor(countedExporter{exporter, p}, sdktrace.WithMaxQueueSize(int(p.places)))
	return p
}

// places is how many spans may wait, as the standard's variable has it.
func places() int64 {
	n, err := strconv.Atoi(strings.TrimSpace(os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE")))
	if err != nil || n <= 0 {
		return sdktrace.DefaultMaxQueueSize
	}
	return int64(n)
}

// OnEnd implements sdktrace.SpanProcessor.
func (p *exporting) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if p.waiting.Add(1) > p.places {
		p.waiting.Add(-1)
		p.loss.queueFull.Add(1)
		return
	}
	p.SpanProcessor.OnEnd(s)
}

// Shutdown implements sdktrace.SpanProcessor. A collector that takes nothing
// makes no failure of a service that ends well.
func (p *exporting) Shutdown(ctx context.Context) error {
	err := p.SpanProcessor.Shutdown(ctx)
	n := p.waiting.Swap(0)
	p.loss.unsent.Add(n)
	if err != nil || n > 0 {
		p.log.WarnContext(ctx, "spans were not sent before the end; see OTEL_EXPORTER_OTLP_ENDPOINT", "spans", n, "error", err)
	}
	return nil
}

// countedExporter tells failures to the service's own log. The SDK would hand
// them to a global error handler.
type countedExporter struct {
	sdktrace.SpanExporter
	of *exporting
}

func (e countedExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	e.of.waiting.Add(-int64(len(spans)))
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.of.loss.notExported.Add(int64(len(spans)))
		e.of.log.WarnContext(ctx, "spans were not exported; see OTEL_EXPORTER_OTLP_ENDPOINT", "spans", len(spans), "error", err)
	}
	return nil
}
