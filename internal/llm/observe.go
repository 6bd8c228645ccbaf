package llm

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/errinfo"
)

const instrumentationScope = "github.com/triplemesh/triplemesh/internal/llm"

// observer records a span and metrics of each call, by OpenTelemetry's semantic conventions for
// generative AI.
type observer struct {
	tracer   trace.Tracer
	calls    metric.Int64Counter
	cost     metric.Float64Counter
	tokens   metric.Int64Histogram
	duration metric.Float64Histogram
	failures metric.Int64Counter
	open     metric.Int64UpDownCounter
	models   map[string]bool // that metrics may name
	prompts  bool
}

func newObserver(cfg Config, tel Telemetry) (*observer, error) {
	m := tel.MeterProvider().Meter(instrumentationScope)
	o := &observer{tracer: tel.TracerProvider().Tracer(instrumentationScope), models: map[string]bool{},
		prompts: cfg.CapturePrompts}
	for _, e := range cfg.endpoints() {
		o.models[e.Model] = true
	}
	for _, p := range cfg.Prices {
		o.models[p.Model] = true
	}
	var errs [6]error
	o.calls, errs[0] = m.Int64Counter("triplemesh.llm.calls",
		metric.WithDescription("Model calls by outcome: answered, cached, or the kind of failure."),
		metric.WithUnit("{call}"))
	o.cost, errs[1] = m.Float64Counter("triplemesh.llm.cost",
		metric.WithDescription("Cost of model calls by the configured prices."), metric.WithUnit("USD"))
	o.tokens, errs[2] = m.Int64Histogram("gen_ai.client.token.usage",
		metric.WithDescription("Tokens of a model call."), metric.WithUnit("{token}"),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144))
	o.duration, errs[3] = m.Float64Histogram("gen_ai.client.operation.duration",
		metric.WithDescription("Time of a model call, waiting and retries included."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24,
			20.48, 40.96, 81.92))
	o.failures, errs[4] = m.Int64Counter("triplemesh.llm.endpoint.failures",
		metric.WithDescription("Attempts that failed because of a model endpoint, by kind."),
		metric.WithUnit("{attempt}"))
	o.open, errs[5] = m.Int64UpDownCounter("triplemesh.llm.endpoint.left",
		metric.WithDescription("1 while the circuit of a model endpoint is open and its fallbacks are called."),
		metric.WithUnit("{endpoint}"))
	return o, errors.Join(errs[:]...)
}

// countFailure counts an attempt that failed because of the endpoint.
func (o *observer) countFailure(ctx context.Context, endpoint string, err error) {
	o.failures.Add(ctx, 1, metric.WithAttributes(attribute.String("triplemesh.endpoint", endpoint),
		attribute.String("error.type", errorReason(err))))
}

// countCircuit counts the endpoints whose circuits are open.
func (o *observer) countCircuit(endpoint string, open bool) {
	change := int64(-1)
	if open {
		change = 1
	}
	o.open.Add(context.Background(), change, metric.WithAttributes(attribute.String("triplemesh.endpoint", endpoint)))
}

// observedCall is the span and metrics of a call.
type observedCall struct {
	*observer
	ctx   context.Context
	span  trace.Span
	begin time.Time
	model string
	task  string
	// tenant of the caller. Metrics may name it, as it is authenticated.
	tenant attribute.KeyValue
}

func (o *observer) start(ctx context.Context, req Request, model string,
	first *endpoint) (context.Context, *observedCall) {
	attrs := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.provider.name", "openai"),
		attribute.String("gen_ai.request.model", model),
		attribute.Float64("gen_ai.request.temperature", float64(req.Temperature)),
		attribute.Int64("gen_ai.request.seed", req.Seed),
		attribute.String("triplemesh.task", req.Task),
		auth.TenantAttribute(ctx),
	}
	if req.MaxTokens > 0 {
		attrs = append(attrs, attribute.Int("gen_ai.request.max_tokens", req.MaxTokens))
	}
	if len(req.Stop) > 0 {
		attrs = append(attrs, attribute.StringSlice("gen_ai.request.stop_sequences", req.Stop))
	}
	if req.Schema != nil {
		attrs = append(attrs, attribute.String("gen_ai.output.type", "json"))
	}
	if u, err := url.Parse(first.own.BaseURL); err == nil {
		attrs = append(attrs, attribute.String("server.address", u.Hostname()))
		if port, err := strconv.Atoi(u.Port()); err == nil {
			attrs = append(attrs, attribute.Int("server.port", port))
		}
	}
	ctx, span := o.tracer.Start(ctx, "chat "+req.Task, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attrs...))
	if o.prompts && span.IsRecording() {
		for _, m := range req.Messages {
			span.AddEvent("gen_ai."+string(m.Role)+".message",
				trace.WithAttributes(attribute.String("content", m.Content)))
		}
	}
	// Callers may name any model; the cardinality of metrics must stay bounded.
	if !o.models[model] {
		model = "other"
	}
	return ctx, &observedCall{observer: o, ctx: ctx, span: span, begin: time.Now(), model: model, task: req.Task,
		tenant: auth.TenantAttribute(ctx)}
}

func (c *observedCall) end(resp Response, err error) {
	defer c.span.End()
	outcome := "answered"
	switch {
	case err != nil:
		outcome = errorReason(err)
		c.span.SetStatus(otelcodes.Error, err.Error())
		c.span.SetAttributes(attribute.String("error.type", outcome))
	case resp.Cached:
		outcome = "cached"
	}
	labels := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.request.model", c.model),
		attribute.String("triplemesh.task", c.task),
		c.tenant,
	}
	set := metric.WithAttributes(labels...)
	c.calls.Add(c.ctx, 1, set, metric.WithAttributes(attribute.String("outcome", outcome)))
	c.duration.Record(c.ctx, time.Since(c.begin).Seconds(), set,
		metric.WithAttributes(attribute.String("outcome", outcome)))
	c.span.SetAttributes(attribute.Bool("triplemesh.cached", resp.Cached))
	if err != nil {
		return
	}
	c.span.SetAttributes(
		attribute.String("gen_ai.response.model", resp.Model),
		attribute.StringSlice("gen_ai.response.finish_reasons", []string{resp.FinishReason}),
		attribute.Int("gen_ai.usage.input_tokens", resp.Usage.PromptTokens),
		attribute.Int("gen_ai.usage.output_tokens", resp.Usage.CompletionTokens),
		attribute.Int("gen_ai.usage.cache_read.input_tokens", resp.Usage.ReusedTokens),
	)
	if resp.Usage.Estimated {
		c.span.SetAttributes(attribute.Bool("triplemesh.usage_estimated", true))
	}
	if c.prompts {
		c.span.AddEvent("gen_ai.choice", trace.WithAttributes(attribute.String("content", resp.Text)))
	}
	if resp.Cached {
		return
	}
	c.tokens.Record(c.ctx, int64(resp.Usage.PromptTokens), set,
		metric.WithAttributes(attribute.String("gen_ai.token.type", "input")))
	c.tokens.Record(c.ctx, int64(resp.Usage.CompletionTokens), set,
		metric.WithAttributes(attribute.String("gen_ai.token.type", "output")))
	if resp.Usage.CostUSD > 0 {
		c.cost.Add(c.ctx, resp.Usage.CostUSD, set)
	}
}

// errorReason returns an error's kind as a label of metrics.
func errorReason(err error) string {
	for _, k := range errorKinds {
		if errors.Is(err, k.err) {
			return errinfo.Name(k.reason)
		}
	}
	return "OTHER"
}
