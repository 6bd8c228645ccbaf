package server

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// rpcMetrics counts what OTel's RPC metrics lack: RPCs in flight, and the reasons of failures.
// Health and reflection are not in flight: every client watches the health, and an autoscaler that
// reads this number must not scale by the number of clients.
type rpcMetrics struct {
	inFlight metric.Int64UpDownCounter
	handled  metric.Int64Counter
}

func newRPCMetrics(tel *telemetry.Telemetry) (m rpcMetrics, err error) {
	if m.inFlight, err = tel.Meter().Int64UpDownCounter("triplemesh.rpc.in_flight",
		metric.WithDescription("RPCs under way."), metric.WithUnit("{rpc}")); err != nil {
		return m, err
	}
	m.handled, err = tel.Meter().Int64Counter("triplemesh.rpc.handled",
		metric.WithDescription("RPCs answered, by code and reason."), metric.WithUnit("{rpc}"))
	return m, err
}

// ServerReporter implements interceptors.ServerReportable.
func (m rpcMetrics) ServerReporter(ctx context.Context,
	c interceptors.CallMeta) (interceptors.Reporter, context.Context) {
	r := rpcReporter{ctx: ctx, metrics: m, call: []attribute.KeyValue{
		attribute.String("rpc.service", c.Service), attribute.String("rpc.method", c.Method)}}
	if !housekeeping(c.Service) {
		r.inFlight = metric.WithAttributes(r.call...)
		m.inFlight.Add(ctx, 1, r.inFlight)
	}
	return r, ctx
}

type rpcReporter struct {
	interceptors.NoopReporter
	ctx      context.Context
	metrics  rpcMetrics
	call     []attribute.KeyValue
	inFlight metric.MeasurementOption // nil for housekeeping
}

// PostCall implements interceptors.Reporter.
func (r rpcReporter) PostCall(err error, _ time.Duration) {
	if r.inFlight != nil {
		r.metrics.inFlight.Add(r.ctx, -1, r.inFlight)
	}
	attrs := append(r.call, attribute.String("rpc.code", codeName(status.Code(err))),
		attribute.String("rpc.reason", reasonOf(err)))
	// Only an authenticated tenant is a label: made-up names would make unbounded series.
	if id := accountFrom(r.ctx).identity().Tenant; !id.IsZero() {
		attrs = append(attrs, id.Attribute())
	}
	r.metrics.handled.Add(r.ctx, 1, metric.WithAttributes(attrs...))
}

// spanHandler starts the server span, and before it the span sink of a request that asks for its
// spans.
type spanHandler struct{ stats.Handler }

func newSpanHandler(tel *telemetry.Telemetry) stats.Handler {
	return spanHandler{otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(tel.TracerProvider()),
		otelgrpc.WithMeterProvider(tel.MeterProvider()),
		otelgrpc.WithPropagators(tel.Propagator()),
		otelgrpc.WithFilter(func(info *stats.RPCTagInfo) bool {
			return !housekeeping(strings.TrimPrefix(info.FullMethodName, "/"))
		}),
	)}
}

func (h spanHandler) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	if asked := metadata.ValueFromIncomingContext(ctx, telemetry.CollectSpansKey); len(asked) > 0 && asked[0] == "1" {
		ctx = telemetry.WithSpanSink(ctx, telemetry.NewSpanSink())
	}
	return h.Handler.TagRPC(ctx, info)
}

// returnSpans returns the finished spans in the trailer. The server span is among them unfinished:
// it ends when the trailer has been sent.
var returnSpans around = func(ctx context.Context, _ interceptors.CallMeta, next func(context.Context) error) error {
	err := next(ctx)
	if sink := telemetry.SpanSinkFrom(ctx); sink != nil {
		sink.AddRunning(trace.SpanFromContext(ctx))
		// This fails only if the RPC has ended.
		_ = grpc.SetTrailer(ctx, metadata.Pairs(telemetry.SpansKey, string(telemetry.EncodeSpans(sink.Spans()))))
	}
	return err
}

// account passes the caller and the subject of an RPC from inner interceptors to outer ones, which
// read it when the RPC has ended.
type account struct {
	mu      sync.Mutex
	caller  auth.Caller
	subject auditSubject
}

type accountKey struct{}

func withAccount(ctx context.Context) (context.Context, *account) {
	a := &account{}
	return context.WithValue(ctx, accountKey{}, a), a
}

// accountFrom returns an RPC's account, or a new one if it has none.
func accountFrom(ctx context.Context) *account {
	if a, ok := ctx.Value(accountKey{}).(*account); ok {
		return a
	}
	return &account{}
}

// setCaller records the authenticated caller.
func (a *account) setCaller(caller auth.Caller) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.caller = caller
}

// identity returns the caller; zero if it is not authenticated.
func (a *account) identity() auth.Caller {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.caller
}

// inspect records the subject of a message, if none is recorded yet.
func (a *account) inspect(m any) {
	msg, ok := m.(proto.Message)
	if !ok || msg == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subject.fill(msg.ProtoReflect(), 0)
}

// target returns the RPC's subject.
func (a *account) target() auditSubject {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.subject
}
