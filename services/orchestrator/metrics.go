package orchestrator

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/internal/tenant"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
)

type metrics struct {
	questions  metric.Int64Counter
	duration   metric.Float64Histogram
	confidence metric.Float64Histogram
	conflicts  metric.Int64Counter
	tokens     metric.Int64Counter
	cost       metric.Float64Counter
	refusals   metric.Int64Counter
	underWay   metric.Int64UpDownCounter

	checks, claims metric.Int64Counter
	checkDuration  metric.Float64Histogram
}

func newMetrics(meter metric.Meter) (*metrics, error) {
	questions, err := meter.Int64Counter("triplemesh.orchestrator.questions",
		metric.WithDescription("Questions answered, by tenant, method and grounding; abstentions among them."), metric.WithUnit("{question}"))
	if err != nil {
		return nil, err
	}
	duration, err := meter.Float64Histogram("triplemesh.orchestrator.duration",
		metric.WithDescription("Time from question to answer."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.01, .05, .1, .5, 1, 2, 5, 10, 20, 40, 80, 160, 320))
	if err != nil {
		return nil, err
	}
	confidence, err := meter.Float64Histogram("triplemesh.orchestrator.confidence",
		metric.WithDescription("How likely answers are right, those withheld among them."),
		metric.WithExplicitBucketBoundaries(.1, .2, .3, .4, .5, .6, .7, .8, .9))
	if err != nil {
		return nil, err
	}
	conflicts, err := meter.Int64Counter("triplemesh.orchestrator.conflicts",
		metric.WithDescription("Contradictions between knowledge graphs in the evidence of questions."), metric.WithUnit("{conflict}"))
	if err != nil {
		return nil, err
	}
	m := &metrics{questions: questions, duration: duration, confidence: confidence, conflicts: conflicts}
	return m, errors.Join(m.ofTenants(meter), m.ofChecks(meter))
}

// ofTenants makes the instruments that count what tenants use. A tenant is one
// that a caller proved to be of, never a name that somebody sent.
func (m *metrics) ofTenants(meter metric.Meter) (err error) {
	if m.tokens, err = meter.Int64Counter("triplemesh.orchestrator.tokens",
		metric.WithDescription("Tokens that models read and wrote for questions, by tenant; failed questions among them."), metric.WithUnit("{token}")); err != nil {
		return err
	}
	if m.cost, err = meter.Float64Counter("triplemesh.orchestrator.cost",
		metric.WithDescription("What questions cost by the configured prices, by tenant; failed questions among them."), metric.WithUnit("USD")); err != nil {
		return err
	}
	if m.refusals, err = meter.Int64Counter("triplemesh.orchestrator.refusals",
		metric.WithDescription("Questions refused since a quota was used up, by tenant and quota."), metric.WithUnit("{question}")); err != nil {
		return err
	}
	m.underWay, err = meter.Int64UpDownCounter("triplemesh.orchestrator.running",
		metric.WithDescription("Questions under way, by tenant."), metric.WithUnit("{question}"))
	return err
}

// running counts a question in until the returned function is called.
func (m *metrics) running(ctx context.Context, id tenant.ID) (end func()) {
	m.underWay.Add(ctx, 1, metric.WithAttributes(id.Attribute()))
	return func() { m.underWay.Add(context.WithoutCancel(ctx), -1, metric.WithAttributes(id.Attribute())) }
}

// refused counts a question that a quota refused.
func (m *metrics) refused(ctx context.Context, err error) {
	var exceeded *quota.Exceeded
	if errors.As(err, &exceeded) {
		m.refusals.Add(ctx, 1, metric.WithAttributes(exceeded.Tenant.Attribute(), attribute.String("quota", exceeded.Quota)))
	}
}

// metered is a purse whose spending is counted.
func (m *metrics) metered(ctx context.Context, id tenant.ID, purse question.Purse) question.Purse {
	return meteredPurse{purse, m, context.WithoutCancel(ctx), id}
}

type meteredPurse struct {
	question.Purse
	metrics *metrics
	ctx     context.Context
	tenant  tenant.ID
}

// Charge implements question.Purse.
func (p meteredPurse) Charge(u *llmv1.Usage) {
	p.Purse.Charge(u)
	p.metrics.tokens.Add(p.ctx, int64(u.GetPromptTokens()+u.GetCompletionTokens()), metric.WithAttributes(p.tenant.Attribute()))
	p.metrics.cost.Add(p.ctx, u.GetCostUsd(), metric.WithAttributes(p.tenant.Attribute()))
}

func (m *metrics) answered(ctx context.Context, id tenant.ID, run *orchestratorv1.Run) {
	method := attribute.String("method", run.GetMethod())
	grounding := strings.ToLower(strings.TrimPrefix(run.GetGrounding().String(), "GROUNDING_"))
	m.questions.Add(ctx, 1, metric.WithAttributes(method, id.Attribute(),
		attribute.String("grounding", grounding), attribute.Bool("partial", run.GetPartial())))
	m.duration.Record(ctx, run.GetDuration().AsDuration().Seconds(), metric.WithAttributes(method))
	if run.Confidence != nil {
		m.confidence.Record(ctx, float64(run.GetConfidence()), metric.WithAttributes(method))
	}
	if n := len(run.GetConflicts()); n > 0 {
		m.conflicts.Add(ctx, int64(n), metric.WithAttributes(method))
	}
}
