package orchestrator

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/internal/enum"
	"github.com/triplemesh/triplemesh/internal/tenant"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// ofChecks makes the instruments that count checked texts.
func (m *metrics) ofChecks(meter metric.Meter) (err error) {
	if m.checks, err = meter.Int64Counter("triplemesh.orchestrator.checks",
		metric.WithDescription("Texts checked, by tenant."), metric.WithUnit("{text}")); err != nil {
		return err
	}
	if m.claims, err = meter.Int64Counter("triplemesh.orchestrator.claims",
		metric.WithDescription("Claims of checked texts, by verdict; those not judged are unspecified."), metric.WithUnit("{claim}")); err != nil {
		return err
	}
	m.checkDuration, err = meter.Float64Histogram("triplemesh.orchestrator.check.duration",
		metric.WithDescription("Time from text to verdicts."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.1, .5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640))
	return err
}

// checked counts a checked text.
func (m *metrics) checked(ctx context.Context, id tenant.ID, c *orchestratorv1.Check) {
	m.checks.Add(ctx, 1, metric.WithAttributes(id.Attribute(), attribute.Bool("partial", c.GetPartial())))
	m.checkDuration.Record(ctx, c.GetDuration().AsDuration().Seconds())
	for _, claim := range c.GetClaims() {
		m.claims.Add(ctx, 1, metric.WithAttributes(attribute.String("verdict", enum.Name(claim.GetVerdict()))))
	}
}
