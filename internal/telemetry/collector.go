package telemetry

import (
	"context"
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// maxOpen bounds the spans a collector waits for: one that is never ended
// would be kept for ever.
const maxOpen = 1 << 16

// collector hands every finished span to the sink of the context it was
// started in. The sink is looked up at the start because the end has no
// context.
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

// Shutdown has nothing to undo.
func (c *collector) Shutdown(context.Context) error { return nil }

// ForceFlush has nothing to wait for.
func (c *collector) ForceFlush(context.Context) error { return nil }

func keyOf(s sdktrace.ReadOnlySpan) spanKey {
	return spanKey{s.SpanContext().TraceID(), s.SpanContext().SpanID()}
}
