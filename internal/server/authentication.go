package server

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// authenticate finds out who calls, and turns away who may not. It stands
// before all that an RPC costs: a place under the limit, and the look at what
// it asks.
func authenticate(gate *auth.Gate, tel *telemetry.Telemetry) (around, error) {
	refusals, err := tel.Meter().Int64Counter("triplemesh.auth.refusals",
		metric.WithDescription("RPCs of callers who were turned away, by reason."), metric.WithUnit("{rpc}"))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		caller, refusal := gate.Admit(ctx, method)
		if gate.On() {
			accountFrom(ctx).know(caller)
		}
		if refusal != nil {
			refusals.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", refusal.Reason)))
			return refuse(refusal.Code, refusal.Reason, tel.Service(), nil, "%s", refusal.Text)
		}
		return next(auth.With(ctx, caller))
	}, nil
}
