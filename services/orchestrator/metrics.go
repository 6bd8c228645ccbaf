package orchestrator

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/config"
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
	feedback       metric.Int64Counter
	checkDuration  metric.Float64Histogram
}

func newMetrics(meter metric.Meter) (*metrics, error) {
	questions, err := meter.Int64Counter("triplemesh.orchestrator.questions",
		metric.WithDescription("Questions answered, by tenant, method and grounding; abstentions among them."),
		metric.WithUnit("{question}"))
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
		metric.WithDescription("Probability that answers are right, withheld answers included."),
		metric.WithExplicitBucketBoundaries(.1, .2, .3, .4, .5, .6, .7, .8, .9))
	if err != nil {
		return nil, err
	}
	conflicts, err := meter.Int64Counter("triplemesh.orchestrator.conflicts",
		metric.WithDescription("Contradictions between knowledge graphs in the evidence of questions."),
		metric.WithUnit("{conflict}"))
	if err != nil {
		return nil, err
	}
	m := &metrics{questions: questions, duration: duration, confidence: confidence, conflicts: conflicts}
	return m, errors.Join(m.addTenantMetrics(meter), m.addCheckMetrics(meter))
}

// addTenantMetrics creates the instruments with tenant labels. Tenants are authenticated, so that
// callers cannot create labels.
func (m *metrics) addTenantMetrics(meter metric.Meter) (err error) {
	if m.tokens, err = meter.Int64Counter("triplemesh.orchestrator.tokens", metric.WithDescription(
		"Tokens that models read and wrote for questions, by tenant; failed questions among them."),
		metric.WithUnit("{token}")); err != nil {
		return err
	}
	if m.cost, err = meter.Float64Counter("triplemesh.orchestrator.cost",
		metric.WithDescription("What questions cost by the configured prices, by tenant; failed questions among them."),
		metric.WithUnit("USD")); err != nil {
		return err
	}
	if m.refusals, err = meter.Int64Counter("triplemesh.orchestrator.refusals",
		metric.WithDescription("Questions refused since a quota was used up, by tenant and quota."),
		metric.WithUnit("{question}")); err != nil {
		return err
	}
	if m.feedback, err = meter.Int64Counter("triplemesh.orchestrator.feedback",
		metric.WithDescription("Feedback marks, by tenant and judgement; those that replaced others among them."),
		metric.WithUnit("{mark}")); err != nil {
		return err
	}
	m.underWay, err = meter.Int64UpDownCounter("triplemesh.orchestrator.running",
		metric.WithDescription("Questions under way, by tenant."), metric.WithUnit("{question}"))
	return err
}

// countRunning counts a question as running until end is called.
func (m *metrics) countRunning(ctx context.Context, id auth.Tenant) (end func()) {
	m.underWay.Add(ctx, 1, metric.WithAttributes(id.Attribute()))
	return func() { m.underWay.Add(context.WithoutCancel(ctx), -1, metric.WithAttributes(id.Attribute())) }
}

// countRefusal counts a question that a quota refused.
func (m *metrics) countRefusal(ctx context.Context, err error) {
	if exceeded, ok := errors.AsType[*quota.Exceeded](err); ok {
		m.refusals.Add(ctx, 1, metric.WithAttributes(exceeded.Tenant.Attribute(),
			attribute.String("quota", exceeded.Quota)))
	}
}

func (m *metrics) countFeedback(ctx context.Context, id auth.Tenant, marks []*orchestratorv1.Mark) {
	for _, mark := range marks {
		m.feedback.Add(ctx, 1, metric.WithAttributes(id.Attribute(),
			attribute.String("judgement", config.EnumName(mark.GetJudgement()))))
	}
}

// meteredPurse counts spending.
type meteredPurse struct {
	question.Purse
	metrics *metrics
	ctx     context.Context
	tenant  auth.Tenant
}

// Charge implements question.Purse.
func (p meteredPurse) Charge(u *llmv1.Usage) {
	p.Purse.Charge(u)
	p.metrics.tokens.Add(p.ctx, int64(u.GetPromptTokens()+u.GetCompletionTokens()),
		metric.WithAttributes(p.tenant.Attribute()))
	p.metrics.cost.Add(p.ctx, u.GetCostUsd(), metric.WithAttributes(p.tenant.Attribute()))
}

func (m *metrics) countAnswer(ctx context.Context, id auth.Tenant, run *orchestratorv1.Run) {
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

// addCheckMetrics creates the instruments of checks.
func (m *metrics) addCheckMetrics(meter metric.Meter) (err error) {
	if m.checks, err = meter.Int64Counter("triplemesh.orchestrator.checks",
		metric.WithDescription("Texts checked, by tenant."), metric.WithUnit("{text}")); err != nil {
		return err
	}
	if m.claims, err = meter.Int64Counter("triplemesh.orchestrator.claims",
		metric.WithDescription("Claims of checked texts, by verdict; those not judged are unspecified."),
		metric.WithUnit("{claim}")); err != nil {
		return err
	}
	m.checkDuration, err = meter.Float64Histogram("triplemesh.orchestrator.check.duration",
		metric.WithDescription("Time from text to verdicts."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.1, .5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640))
	return err
}

func (m *metrics) countCheck(ctx context.Context, id auth.Tenant, c *orchestratorv1.Check) {
	m.checks.Add(ctx, 1, metric.WithAttributes(id.Attribute(), attribute.Bool("partial", c.GetPartial())))
	m.checkDuration.Record(ctx, c.GetDuration().AsDuration().Seconds())
	for _, claim := range c.GetClaims() {
		m.claims.Add(ctx, 1, metric.WithAttributes(attribute.String("verdict", config.EnumName(claim.GetVerdict()))))
	}
}
