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

	"github.com/triplemesh/triplemesh/internal/tenant"
)

const scope = "github.com/triplemesh/triplemesh/internal/llm"

// observer makes a span and the metrics of each call, by OpenTelemetry's
// semantic conventions for generative AI.
type observer struct {
	tracer   trace.Tracer
	calls    metric.Int64Counter
	cost     metric.Float64Counter
	tokens   metric.Int64Histogram
	duration metric.Float64Histogram
	failures metric.Int64Counter
	open     metric.Int64UpDownCounter
	known    map[string]bool // models that metrics may name
	texts    bool
}

func newObserver(cfg Config, tel Telemetry) (*observer, error) {
	m := tel.MeterProvider().Meter(scope)
	o := &observer{tracer: tel.TracerProvider().Tracer(scope), known: map[string]bool{}, texts: cfg.CapturePrompts}
	for _, e := range cfg.endpoints() {
		o.known[e.Model] = true
	}
	for _, p := range cfg.Prices {
		o.known[p.Model] = true
	}
	var errs [6]error
	o.calls, errs[0] = m.Int64Counter("triplemesh.llm.calls",
		metric.WithDescription("Model calls by outcome: answered, cached, or the kind of failure."), metric.WithUnit("{call}"))
	o.cost, errs[1] = m.Float64Counter("triplemesh.llm.cost",
		metric.WithDescription("Cost of model calls by the configured prices."), metric.WithUnit("USD"))
	o.tokens, errs[2] = m.Int64Histogram("gen_ai.client.token.usage",
		metric.WithDescription("Tokens of a model call."), metric.WithUnit("{token}"),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144))
	o.duration, errs[3] = m.Float64Histogram("gen_ai.client.operation.duration",
		metric.WithDescription("Time of a model call, waiting and retries included."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
	o.failures, errs[4] = m.Int64Counter("triplemesh.llm.endpoint.failures",
		metric.WithDescription("Attempts at a model endpoint that failed by its fault, by kind."), metric.WithUnit("{attempt}"))
	o.open, errs[5] = m.Int64UpDownCounter("triplemesh.llm.endpoint.left",
		metric.WithDescription("1 while a model endpoint is left alone because it failed, where others are asked instead."), metric.WithUnit("{endpoint}"))
	return o, errors.Join(errs[:]...)
}

// failed counts an attempt that failed by the fault of an endpoint.
func (o *observer) failed(ctx context.Context, endpoint string, err error) {
	o.failures.Add(ctx, 1, metric.WithAttributes(attribute.String("triplemesh.endpoint", endpoint), attribute.String("error.type", kindName(err))))
}

// left counts the endpoints that are left alone.
func (o *observer) left(endpoint string, open bool) {
	change := int64(-1)
	if open {
		change = 1
	}
	o.open.Add(context.Background(), change, metric.WithAttributes(attribute.String("triplemesh.endpoint", endpoint)))
}

// observed is a call under way.
type observed struct {
	*observer
	ctx   context.Context
	span  trace.Span
	begin time.Time
	model string
	task  string
	// tenant is for whom the call is made. Metrics may name it: who it is was
	// proved.
	tenant attribute.KeyValue
}

func (o *observer) start(ctx context.Context, req Request, model string, first *endpoint) (context.Context, *observed) {
	attrs := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.provider.name", "openai"),
		attribute.String("gen_ai.request.model", model),
		attribute.Float64("gen_ai.request.temperature", float64(req.Temperature)),
		attribute.Int64("gen_ai.request.seed", req.Seed),
		attribute.String("triplemesh.task", req.Task),
		tenant.Attribute(ctx),
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
	ctx, span := o.tracer.Start(ctx, "chat "+req.Task, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	if o.texts && span.IsRecording() {
		for _, m := range req.Messages {
			span.AddEvent("gen_ai."+string(m.Role)+".message", trace.WithAttributes(attribute.String("content", m.Content)))
		}
	}
	// A caller may name any model; metrics must not grow with that.
	if !o.known[model] {
		model = "other"
	}
	return ctx, &observed{observer: o, ctx: ctx, span: span, begin: time.Now(), model: model, task: req.Task, tenant: tenant.Attribute(ctx)}
}

func (c *observed) end(resp Response, err error) {
	defer c.span.End()
	outcome := "answered"
	switch {
	case err != nil:
		outcome = kindName(err)
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
	c.duration.Record(c.ctx, time.Since(c.begin).Seconds(), set, metric.WithAttributes(attribute.String("outcome", outcome)))
	c.span.SetAttributes(attribute.Bool("triplemesh.cached", resp.Cached))
	if err != nil {
		return
	}
	c.span.SetAttributes(
		attribute.String("gen_ai.response.model", resp.Model),
		attribute.StringSlice("gen_ai.response.finish_reasons", []string{resp.FinishReason}),
		attribute.Int("gen_ai.usage.input_tokens", resp.Usage.PromptTokens),
		attribute.Int("gen_ai.usage.output_tokens", resp.Usage.CompletionTokens),
	)
	if resp.Usage.Estimated {
		c.span.SetAttributes(attribute.Bool("triplemesh.usage_estimated", true))
	}
	if c.texts {
		c.span.AddEvent("gen_ai.choice", trace.WithAttributes(attribute.String("content", resp.Text)))
	}
	if resp.Cached {
		return
	}
	c.tokens.Record(c.ctx, int64(resp.Usage.PromptTokens), set, metric.WithAttributes(attribute.String("gen_ai.token.type", "input")))
	c.tokens.Record(c.ctx, int64(resp.Usage.CompletionTokens), set, metric.WithAttributes(attribute.String("gen_ai.token.type", "output")))
	if resp.Usage.CostUSD > 0 {
		c.cost.Add(c.ctx, resp.Usage.CostUSD, set)
	}
}

// kindName is an error's kind as a metric's label.
func kindName(err error) string {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.reason
		}
	}
	return "OTHER"
}
