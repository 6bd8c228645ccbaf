package server

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/admission"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// admit begins as many RPCs as the server can do, lets some wait, and turns the
// rest away.
func admit(cfg Config, tel *telemetry.Telemetry) (around, error) {
	gate := admission.New(admission.Config{MaxInFlight: cfg.MaxInFlight, MaxQueue: cfg.MaxQueue, MaxWait: cfg.MaxWait})
	refusals, err := tel.Meter().Int64Counter("triplemesh.admission.refusals",
		metric.WithDescription("RPCs that were not begun because others were under way, by reason."), metric.WithUnit("{rpc}"))
	if err != nil {
		return nil, err
	}
	if err := observe(gate, tel.Meter()); err != nil {
		return nil, err
	}
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		if housekeeping(method) {
			return next(ctx)
		}
		ctx = admission.WithKind(ctx)
		leave, err := gate.Enter(ctx)
		var refused *admission.Refused
		switch {
		case errors.As(err, &refused):
			refusals.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", string(refused.Reason))))
			return refuse(codes.ResourceExhausted, "TOO_MANY_REQUESTS", tel.Service(),
				[]protoadapt.MessageV1{&errdetails.RetryInfo{RetryDelay: durationpb.New(refused.RetryAfter)}},
				"%s was not begun: in the %s %v", method, tel.Service(), refused)
		case err != nil:
			return err
		}
		late := false
		defer func() { leave(late) }() // after a panic too
		err = next(ctx)
		late = errors.Is(ctx.Err(), context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
		return err
	}, nil
}

// observe shows how full a gate is.
func observe(gate *admission.Gate, meter metric.Meter) error {
	limit, err := meter.Int64ObservableGauge("triplemesh.admission.limit",
		metric.WithDescription("RPCs that are begun at once: server.max_in_flight, or fewer while RPCs run out of time."), metric.WithUnit("{rpc}"))
	if err != nil {
		return err
	}
	waiting, err := meter.Int64ObservableGauge("triplemesh.admission.waiting",
		metric.WithDescription("RPCs that wait for others to end."), metric.WithUnit("{rpc}"))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		state := gate.State()
		o.ObserveInt64(limit, int64(state.Limit))
		o.ObserveInt64(waiting, int64(state.Waiting))
		return nil
	}, limit, waiting)
	return err
}
