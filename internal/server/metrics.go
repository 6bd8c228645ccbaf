package server

import (
	"context"
	"strings"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc/status"
)

// countRPCs counts what OTel's own RPC metrics do not: RPCs in flight, and the
// reasons of those that failed. Health and reflection are not in flight: every
// client watches the health all the time, and what scales by this number must
// not scale by clients.
func countRPCs(tel *telemetry.Telemetry) (around, error) {
	inFlight, err := tel.Meter().Int64UpDownCounter("triplemesh.rpc.in_flight",
		metric.WithDescription("RPCs under way."), metric.WithUnit("{rpc}"))
	if err != nil {
		return nil, err
	}
	handled, err := tel.Meter().Int64Counter("triplemesh.rpc.handled",
		metric.WithDescription("RPCs answered, by code and reason."), metric.WithUnit("{rpc}"))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		rpc := methodAttributes(method)
		if !housekeeping(method) {
			of := metric.WithAttributes(rpc...)
			inFlight.Add(ctx, 1, of)
			defer inFlight.Add(ctx, -1, of)
		}
		err := next(ctx)
		attrs := append(rpc,
			attribute.String("rpc.code", codeName(status.Code(err))),
			attribute.String("rpc.reason", reasonOf(err)))
		// Only who proved to be of a tenant counts for it: names that anybody
		// could make up would be series without end.
		if id := accountFrom(ctx).who().Tenant; !id.IsZero() {
			attrs = append(attrs, id.Attribute())
		}
		handled.Add(ctx, 1, metric.WithAttributes(attrs...))
		return err
	}, nil
}

func methodAttributes(method string) []attribute.KeyValue {
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	return []attribute.KeyValue{attribute.String("rpc.service", service), attribute.String("rpc.method", name)}
}
