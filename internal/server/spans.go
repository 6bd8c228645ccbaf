package server

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
)

// spanHandler starts the server span, and before it the sink for a request
// that wants its spans back.
type spanHandler struct{ stats.Handler }

func newSpanHandler(tel *telemetry.Telemetry) stats.Handler {
	return spanHandler{otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(tel.TracerProvider()),
		otelgrpc.WithMeterProvider(tel.MeterProvider()),
		otelgrpc.WithPropagators(tel.Propagator()),
		otelgrpc.WithFilter(func(info *stats.RPCTagInfo) bool { return !housekeeping(info.FullMethodName) }),
	)}
}

func (h spanHandler) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	if asked := metadata.ValueFromIncomingContext(ctx, telemetry.CollectSpansKey); len(asked) > 0 && asked[0] == "1" {
		ctx = telemetry.WithSpanSink(ctx, telemetry.NewSpanSink())
	}
	return h.Handler.TagRPC(ctx, info)
}

// returnSpans puts the finished spans into the trailer. The server span is
// among them as it stands: it ends only when the trailer has been sent.
func returnSpans(ctx context.Context, _ string, next func(context.Context) error) error {
	err := next(ctx)
	if sink := telemetry.SpanSinkFrom(ctx); sink != nil {
		sink.AddRunning(trace.SpanFromContext(ctx))
		// It fails only where the RPC has ended, and then nobody reads it.
		_ = grpc.SetTrailer(ctx, metadata.Pairs(telemetry.SpansKey, string(telemetry.EncodeSpans(sink.Spans()))))
	}
	return err
}
