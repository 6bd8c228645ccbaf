package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"time"

	openai "github.com/sashabaranov/go-openai"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

const (
	// probeTimeout is how long an endpoint that failed may take to list its models.
	probeTimeout = time.Second
	// minPatience is how long an endpoint may take before it counts as hanging, although the
	// caller's deadline is shorter than the endpoint's timeout.
	minPatience = 5 * time.Second
)

// endpoint calls the models of one server, with retries.
type endpoint struct {
	cfg      Config
	own      Endpoint
	fallback bool   // its own model goes before the requested one
	name     string // the URL without user and password, for messages
	slots    chan struct{}
	breaker  *breaker
	traits   traitBook
	log      *slog.Logger

	transport *transport
	client    *openai.Client
	observer  *observer
}

func newEndpoint(e Endpoint, fallback bool, cfg Config, obs *observer, log *slog.Logger) *endpoint {
	end := &endpoint{
		cfg: cfg, own: e, fallback: fallback, name: redactURL(e.BaseURL), log: log, observer: obs,
		// Of its own: an endpoint that hangs must not use up the slots of the others.
		slots: make(chan struct{}, cfg.MaxInFlight), breaker: newBreaker(cfg.Breaker),
		transport: newTransport(cfg),
		traits:    traitBook{initial: initialTraits(e.Capabilities), caps: e.Capabilities},
	}
	end.client = end.transport.client(e)
	if len(cfg.Fallbacks) > 0 {
		end.breaker.onChange = end.reportCircuit
	}
	return end
}

// reportCircuit logs and counts a change of the circuit.
func (e *endpoint) reportCircuit(open bool, cooldown time.Duration) {
	e.observer.countCircuit(e.name, open)
	if open {
		e.log.Warn(logCircuitOpened, "endpoint", e.name, "retry_after", cooldown.String())
	} else {
		e.log.Info(logCircuitClosed, "endpoint", e.name)
	}
}

// redactURL returns a URL without what may be secret in it.
func redactURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the endpoint"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// model returns the name of the model to call.
func (e *endpoint) model(requested string) string {
	if e.fallback && e.own.Model != "" {
		return e.own.Model
	}
	return requested
}

// callOptions are how an endpoint is called, given the other endpoints.
type callOptions struct {
	// alternatives: other endpoints may be called instead, remaining of them after this one.
	alternatives bool
	remaining    int
	// probe: the circuit is open, and this call finds out whether it can close.
	probe bool
	// opened is closed when the circuit opens because of other calls; nil never is.
	opened <-chan struct{}
}

// errShareUsed ends an attempt that used the endpoint's share of the time.
var errShareUsed = errors.New("the endpoint has used its share of the time")

// limitShare cancels an attempt once the endpoint has used its share of the caller's time without
// starting to answer, so that one that hangs leaves the others theirs.
func (o callOptions) limitShare(attempt, ctx context.Context, x *exchange) (context.Context, func()) {
	deadline, bounded := ctx.Deadline()
	if !bounded || o.remaining == 0 {
		return attempt, func() {}
	}
	attempt, cancel := context.WithCancelCause(attempt)
	timer := time.AfterFunc(time.Until(deadline)/time.Duration(o.remaining+1), func() { cancel(errShareUsed) })
	x.onAnswer = func() { timer.Stop() }
	return attempt, func() {
		timer.Stop()
		cancel(nil)
	}
}

// complete calls the model until it answers or a retry is of no use. It also returns the cache key
// of the request as it was sent. An answer that was interrupted comes with its error.
func (e *endpoint) complete(ctx context.Context, req Request, model string,
	opts callOptions) (Response, string, error) {
	if opts.probe && !e.isAlive(ctx) {
		e.breaker.recordFailure(0, false)
		return Response{}, "", &Error{kind: ErrUnavailable, cause: errCircuitOpen,
			text: fmt.Sprintf("call the model at %s: it failed before, and does not answer", e.name)}
	}
	traits := e.traits.get(model)
	known := traits
	var refusal *Error
	var partial Response
	held := false // a slot, which is free once the failure is counted: the next call may go elsewhere then
	free := func() {
		if held {
			<-e.slots
		}
		held = false
	}
	defer free()
	for retries := 0; ; {
		free()
		err := e.takeSlot(ctx, opts.opened)
		var resp Response
		if held = err == nil; held {
			resp, err = e.attempt(ctx, req, model, traits, opts)
		}
		if err == nil {
			e.logTraits(ctx, model, known, traits, refusal)
			e.traits.learn(model, traits, req)
			e.breaker.recordSuccess()
			return resp, cacheKey(ctx, e, req, model, traits), nil
		}
		partial = longer(partial, resp)
		if next, ok := traits.giveUpFeature(err, req, e.cfg.ReasoningTokens); ok {
			if refusal == nil && !errors.Is(err, ErrCut) {
				refusal = err
			}
			traits = next
			continue
		}
		// The first refusal says more than those of requests with fewer features.
		if refusal != nil && errors.Is(err, ErrRefused) {
			err = refusal
		}
		if !err.retryable || retries >= e.cfg.Retries || opts.alternatives && (err.interrupted || err.retryAfter > 0) {
			e.recordFailure(ctx, err, !err.interrupted)
			return partial, "", err
		}
		e.recordFailure(ctx, err, false)
		free()
		if waitErr := e.waitBackoff(ctx, err, retries, opts.opened); waitErr != nil {
			e.recordFailure(ctx, waitErr, true)
			return partial, "", waitErr
		}
		trace.SpanFromContext(ctx).AddEvent("retry",
			trace.WithAttributes(attribute.String("error.type", errorReason(err))))
		retries++
	}
}

// logTraits logs what a call has taught about a model.
func (e *endpoint) logTraits(ctx context.Context, model string, before, after traits, refusal *Error) {
	if after.thinks && !before.thinks {
		e.log.InfoContext(ctx, logModelThinks, "endpoint", e.name, "model", model,
			"reasoning_tokens", e.cfg.ReasoningTokens)
	}
	if before.thinks = after.thinks; before != after {
		e.log.WarnContext(ctx, logFeatureUnsupported, "endpoint", e.name, "model", model, "lacks", after.String(),
			"refusal", refusal)
	}
}

func (e *endpoint) isAlive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return e.transport.isAlive(ctx, e.own)
}

// recordFailure reports a failed attempt to the breaker, and whether it was the last of its call. A
// request that the endpoint refused, or whose caller gave up early, says nothing about the endpoint.
func (e *endpoint) recordFailure(ctx context.Context, err *Error, last bool) {
	counts := errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRateLimited) || err.misconfigured || err.slow
	if !counts || errors.Is(err, errCircuitOpen) || err.preempted && !err.slow {
		e.breaker.release()
		return
	}
	e.observer.countFailure(ctx, e.name, err)
	e.breaker.recordFailure(err.retryAfter, last && !err.slow)
}

// waitBackoff waits before a retry. It fails at once if there is no time for it, and when the
// circuit opens.
func (e *endpoint) waitBackoff(ctx context.Context, cause *Error, retries int, opened <-chan struct{}) *Error {
	delay := e.cfg.RetryDelay << min(retries, 16)
	delay += time.Duration(rand.Float64() * 0.25 * float64(delay))
	if cause.retryAfter > 0 {
		delay = cause.retryAfter
	}
	deadline, bounded := ctx.Deadline()
	if delay > e.cfg.MaxRetryDelay || (bounded && time.Until(deadline) < delay) {
		return &Error{kind: cause.kind, cause: cause.cause, retryAfter: cause.retryAfter,
			interrupted: cause.interrupted,
			text:        fmt.Sprintf("%s; a retry would have to wait %v", cause.text, delay.Round(time.Millisecond))}
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return contextError(ctx, "wait to retry after: "+cause.text)
	case <-opened:
		return cause
	case <-timer.C:
		return nil
	}
}

// takeSlot waits for a slot. It fails when the circuit opens, even if a slot is free then.
func (e *endpoint) takeSlot(ctx context.Context, opened <-chan struct{}) *Error {
	select {
	case e.slots <- struct{}{}:
		select {
		case <-opened:
			<-e.slots
		default:
			return nil
		}
	case <-opened:
	case <-ctx.Done():
		return contextError(ctx,
			fmt.Sprintf("wait for one of %d calls in flight to end (llm.max_in_flight)", e.cfg.MaxInFlight))
	}
	return &Error{kind: ErrUnavailable, cause: errCircuitOpen,
		text: fmt.Sprintf("call the model at %s: not called, as %v", e.name, errCircuitOpen)}
}

// attempt calls the model once, within the budget.
func (e *endpoint) attempt(ctx context.Context, req Request, model string, t traits,
	opts callOptions) (Response, *Error) {
	guess := estimateUsage(req.Messages, req.MaxTokens)
	held, err := req.Ledger.reserve(guess.PromptTokens+guess.CompletionTokens, e.cost(model, guess))
	if err != nil {
		return Response{}, err
	}
	x := &exchange{prompt: guardedPrompt(req)}
	attemptCtx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	attemptCtx, end := opts.limitShare(attemptCtx, ctx, x)
	defer end()
	req.Delta = req.merger.startAttempt(req.Delta)

	start := time.Now()
	resp, cause := e.call(attemptCtx, req, model, t, x)
	if x.answered || x.sent.Load() && !x.responded {
		// A server that was asked and did not answer in time read the prompt at least, and charges it.
		resp.Usage = plausibleUsage(req, resp, e.cfg.ReasoningTokens)
		resp.Usage.CostUSD = e.cost(model, resp.Usage)
		req.Ledger.settle(held, resp.Usage, cmp.Or(resp.Model, model))
	} else {
		req.Ledger.release(held)
	}
	if cause == nil {
		return resp, nil
	}
	failure := e.classify(ctx, attemptCtx, cause, x)
	failure.slow = (failure.preempted || errors.Is(failure, context.DeadlineExceeded)) &&
		time.Since(start) >= min(e.cfg.Timeout/2, minPatience)
	if req.Delta != nil && resp.Text != "" && !errors.Is(failure, ErrUnusable) {
		failure.interrupted = true
		return resp, failure
	}
	return Response{Usage: resp.Usage}, failure
}

// longer returns the response with the longer text.
func longer(a, b Response) Response {
	if len(b.Text) > len(a.Text) {
		return b
	}
	return a
}

// cost returns the cost by the configured prices, in US dollars.
func (e *endpoint) cost(model string, u Usage) float64 {
	for _, p := range e.cfg.Prices {
		if p.Model == model {
			return (float64(u.PromptTokens)*p.Input + float64(u.CompletionTokens)*p.Output) / 1e6
		}
	}
	return 0
}
