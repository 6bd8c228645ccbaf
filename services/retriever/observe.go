package retriever

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/tenant"
)

// observer records what a request does.
type observer struct {
	tracer trace.Tracer
	hits   metric.Int64Histogram
	pruned metric.Int64Counter
	paths  metric.Int64Histogram
}

func newObserver(tel *telemetry.Telemetry) (observer, error) {
	meter := tel.Meter()
	hits, err1 := meter.Int64Histogram("triplemesh.retriever.hits",
		metric.WithDescription("Distinct hits of a question before pruning."), metric.WithUnit("{triple}"))
	pruned, err2 := meter.Int64Counter("triplemesh.retriever.pruned_subjects",
		metric.WithDescription("Subjects that pruning removed, by reason."), metric.WithUnit("{subject}"))
	paths, err3 := meter.Int64Histogram("triplemesh.retriever.reasoning_paths",
		metric.WithDescription("Reasoning paths found in one call."), metric.WithUnit("{path}"))
	return observer{tracer: tel.Tracer(), hits: hits, pruned: pruned, paths: paths}, errors.Join(err1, err2, err3)
}

// by is what a measurement is counted by: the tenant, and what else is given.
func by(ctx context.Context, also ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append(also, tenant.Attribute(ctx))...)
}

// step runs a step in a span of its name; count is what it handled or found.
func (o observer) step(ctx context.Context, name string, do func(context.Context) (int, error)) error {
	ctx, span := o.tracer.Start(ctx, name, trace.WithAttributes(tenant.Attribute(ctx)))
	defer span.End()
	count, err := do(ctx)
	span.SetAttributes(attribute.Int("triplemesh.count", count))
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}
