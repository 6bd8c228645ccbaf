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

// loss counts lost telemetry. Nothing waits for a collector: what it does not take in time is lost.
type loss struct {
	queueFull   atomic.Int64 // spans dropped as the queue was full
	notExported atomic.Int64 // spans that the collector did not take
	unsent      atomic.Int64 // spans queued at shutdown
	lines       atomic.Int64 // dropped log lines
}

// observe registers the counts as metrics.
func (l *loss) observe(meter metric.Meter) error {
	if _, err := meter.Int64ObservableCounter("triplemesh.telemetry.lost_spans",
		metric.WithDescription("Lost spans, by reason."), metric.WithUnit("{span}"),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			for reason, n := range map[string]*atomic.Int64{"queue_full": &l.queueFull, "not_exported": &l.notExported,
				"unsent": &l.unsent} {
				o.Observe(n.Load(), metric.WithAttributes(attribute.String("reason", reason)))
			}
			return nil
		})); err != nil {
		return err
	}
	_, err := meter.Int64ObservableCounter("triplemesh.telemetry.left_out_lines",
		metric.WithDescription("Log lines dropped because too many were alike."), metric.WithUnit("{line}"),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(l.lines.Load())
			return nil
		}))
	return err
}

// batchProcessor exports spans in batches and counts lost ones. The SDK's own processor drops spans
// silently when its queue is full, so it is not given more than its queue holds.
type batchProcessor struct {
	sdktrace.SpanProcessor
	places  int64
	waiting *atomic.Int64
	loss    *loss
	log     *slog.Logger
}

func newBatchProcessor(exporter sdktrace.SpanExporter, loss *loss, log *slog.Logger) *batchProcessor {
	p := &batchProcessor{places: queueSize(), waiting: &atomic.Int64{}, loss: loss, log: log}
	p.SpanProcessor = sdktrace.NewBatchSpanProcessor(countedExporter{exporter, p},
		sdktrace.WithMaxQueueSize(int(p.places)))
	return p
}

// queueSize returns the limit of queued spans from OTEL_BSP_MAX_QUEUE_SIZE.
func queueSize() int64 {
	n, err := strconv.Atoi(strings.TrimSpace(os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE")))
	if err != nil || n <= 0 {
		return sdktrace.DefaultMaxQueueSize
	}
	return int64(n)
}

// OnEnd implements sdktrace.SpanProcessor.
func (p *batchProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
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

// Shutdown implements sdktrace.SpanProcessor. A failing collector does not make a service's orderly
// shutdown fail.
func (p *batchProcessor) Shutdown(ctx context.Context) error {
	err := p.SpanProcessor.Shutdown(ctx)
	n := p.waiting.Swap(0)
	p.loss.unsent.Add(n)
	if err != nil || n > 0 {
		p.log.WarnContext(ctx, logSpansUnsent, "spans", n, "error", err)
	}
	return nil
}

// countedExporter logs failures to the service's own log. The SDK would pass them to a global error
// handler.
type countedExporter struct {
	sdktrace.SpanExporter
	processor *batchProcessor
}

func (e countedExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	e.processor.waiting.Add(-int64(len(spans)))
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.processor.loss.notExported.Add(int64(len(spans)))
		e.processor.log.WarnContext(ctx, logSpansNotExported, "spans", len(spans), "error", err)
	}
	return nil
}
