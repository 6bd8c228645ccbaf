package server

import (
	"context"
	"errors"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	authn "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/admission"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// admit is the admission control of RPCs. The orchestrator's gate decides which questions begin;
// calls that belong to one of them are not refused by the stages.
func admit(cfg Config, peers policy, tel *telemetry.Telemetry) (around, error) {
	gate := admission.New(admission.Config{MaxInFlight: cfg.MaxInFlight, MaxQueue: cfg.MaxQueue, MaxWait: cfg.MaxWait})
	refusals, err := tel.Meter().Int64Counter("triplemesh.admission.refusals",
		metric.WithDescription("RPCs that were not begun because others were under way, by reason."),
		metric.WithUnit("{rpc}"))
	if err != nil {
		return nil, err
	}
	if err := registerGauges(gate, tel.Meter()); err != nil {
		return nil, err
	}
	return func(ctx context.Context, call interceptors.CallMeta, next func(context.Context) error) error {
		ctx = admission.WithKind(ctx)
		if len(metadata.ValueFromIncomingContext(ctx, admission.AdmittedKey)) > 0 &&
			peers.trusts(ctx, cfg.Auth.Enabled()) {
			ctx = admission.WithAdmitted(ctx)
		}
		leave, err := gate.Enter(ctx)
		var refused *admission.Refusal
		switch {
		case errors.As(err, &refused):
			refusals.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", string(refused.Reason))))
			return refuse(codes.ResourceExhausted, errorsv1.ErrorReason_ERROR_REASON_TOO_MANY_REQUESTS, tel.Service(),
				[]protoadapt.MessageV1{&errdetails.RetryInfo{RetryDelay: durationpb.New(refused.RetryAfter)}},
				"%s was not begun: in the %s %v", call.FullMethod(), tel.Service(), refused)
		case err != nil:
			return err
		}
		late := false
		defer func() { leave(late) }() // after a panic too
		err = next(admission.WithAdmitted(ctx))
		late = errors.Is(ctx.Err(), context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
		return err
	}, nil
}

// registerGauges exports a gate's state as metrics.
func registerGauges(gate *admission.Gate, meter metric.Meter) error {
	limit, err := meter.Int64ObservableGauge("triplemesh.admission.limit", metric.WithDescription(
		"RPCs that are begun at once: server.max_in_flight, or fewer while RPCs run out of time."),
		metric.WithUnit("{rpc}"))
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

// authenticate identifies the caller and refuses those who may not call. It precedes everything
// that costs: the place under the limit, and the validation of the request.
func authenticate(gate *auth.Gate, tel *telemetry.Telemetry) (link, error) {
	refusals, err := tel.Meter().Int64Counter("triplemesh.auth.refusals",
		metric.WithDescription("RPCs of callers who were turned away, by reason."), metric.WithUnit("{rpc}"))
	if err != nil {
		return link{}, err
	}
	return authLink("authentication", func(ctx context.Context) (context.Context, error) {
		method, _ := grpc.Method(ctx)
		caller, refusal := gate.Admit(ctx, method)
		if gate.Enabled() {
			accountFrom(ctx).setCaller(caller)
		}
		if refusal != nil {
			refusals.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", errinfo.Name(refusal.Reason))))
			return nil, refuse(refusal.Code, refusal.Reason, tel.Service(), nil, "%s", refusal.Text)
		}
		return auth.WithCaller(ctx, caller), nil
	}), nil
}

func authLink(name string, f authn.AuthFunc) link {
	return link{name, authn.UnaryServerInterceptor(f), authn.StreamServerInterceptor(f)}
}
