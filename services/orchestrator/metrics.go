package orchestrator

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type metrics struct {
	questions metric.Int64Counter
	duration  metric.Float64Histogram
}

func newMetrics(meter metric.Meter) (*metrics, error) {
	questions, err := meter.Int64Counter("triplemesh.orchestrator.questions",
		metric.WithDescription("Questions answered, by method and grounding; abstentions among them."), metric.WithUnit("{question}"))
	if err != nil {
		return nil, err
	}
	duration, err := meter.Float64Histogram("triplemesh.orchestrator.duration",
		metric.WithDescription("Time from question to answer."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.01, .05, .1, .5, 1, 2, 5, 10, 20, 40, 80, 160, 320))
	if err != nil {
		return nil, err
	}
	return &metrics{questions: questions, duration: duration}, nil
}

func (m *metrics) answered(ctx context.Context, run *orchestratorv1.Run) {
	method := attribute.String("method", run.GetMethod())
	grounding := strings.ToLower(strings.TrimPrefix(run.GetGrounding().String(), "GROUNDING_"))
	m.questions.Add(ctx, 1, metric.WithAttributes(method,
		attribute.String("grounding", grounding), attribute.Bool("partial", run.GetPartial())))
	m.duration.Record(ctx, run.GetDuration().AsDuration().Seconds(), metric.WithAttributes(method))
}
