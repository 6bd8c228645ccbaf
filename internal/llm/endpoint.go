package llm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// endpoint asks one place, again where that may help.
type endpoint struct {
	cfg     Config
	own     Endpoint
	spare   bool   // a fallback, whose own model goes before the one asked for
	name    string // the URL without user and password, for people
	slots   chan struct{}
	breaker *breaker
	traits  traitBook
	log     *slog.Logger

	wireClient *wireClient
	observer   *observer
}

func newEndpoint(e Endpoint, spare bool, cfg Config, obs *observer, log *slog.Logger) *endpoint {
	end := &endpoint{
		cfg: cfg, own: e, spare: spare, name: display(e.BaseURL), log: log, observer: obs,
		// Each has its own: one that hangs must not hold the places of the others.
		slots: make(chan struct{}, cfg.MaxInFlight), breaker: newBreaker(),
		wireClient: newWireClient(e, cfg),
		traits:     traitBook{first: initialTraits(e.Capabilities), caps: e.Capabilities},
	}
	if len(cfg.Fallbacks) > 0 {
		end.breaker.changed = end.changed
	}
	return end
}

// changed tells that the endpoint is left, or asked as before.
func (e *endpoint) changed(open bool, pause time.Duration) {
	e.observer.left(e.name, open)
	if open {
		e.log.Warn("model endpoint is left", "endpoint", e.name, "tried_again_in", pause.String())
	} else {
		e.log.Info("model endpoint is well again", "endpoint", e.name)
	}
}

// display is a URL without what may be secret in it.
func display(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the endpoint"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// model is the name to ask this endpoint for.
func (e *endpoint) model(asked string) string {
	if e.spare && e.own.Model != "" {
		return e.own.Model
	}
	return asked
}

// how is how an endpoint is asked.
type how struct {
	// others may be asked in its place, after of them later in this call.
	others bool
	after  int
	// probes: it failed, and this call finds out whether it is well again.
	probes bool
	// opened is closed when the endpoint failed for other calls; nil never.
	opened <-chan struct{}
}

// errShare ends an attempt that took the endpoint's share of the time.
var errShare = errors.New("the endpoint has had its share of the time")

// share ends an attempt when the endpoint has had its share of the time that its
// caller, who waits by ctx, has left, without having begun to answer: one that
// hangs leaves the others theirs.
func (h how) share(attempt, ctx context.Context, x *exchange) (context.Context, func()) {
	deadline, bounded := ctx.Deadline()
	if !bounded || h.after == 0 {
		return attempt, func() {}
	}
	attempt, leave := context.WithCancelCause(attempt)
	over := time.AfterFunc(time.Until(deadline)/time.Duration(h.after+1), func() { leave(errShare) })
	x.begun = func() { over.Stop() }
	return attempt, func() {
		over.Stop()
		leave(nil)
	}
}

// complete asks until there is an answer, or no use in asking again. It also
// returns the cache key of what was really asked. An answer that broke off in
// mid-stream comes with its error.
func (e *endpoint) complete(ctx context.Context, req Request, model string, h how) (Response, string, error) {
	if h.probes && !e.isAlive(ctx) {
		e.breaker.failed(0, false)
		return Response{}, "", &Error{kind: ErrUnavailable, cause: errElsewhere, what: fmt.Sprintf("call the model at %s: it failed before, and does not answer", e.name)}
	}
	traits := e.traits.get(model)
	known := traits
	var refusal *Error
	var heard Response
	for retries := 0; ; {
		resp, err := e.attempt(ctx, req, model, traits, h)
		if err == nil {
			if traits != known {
				e.log.WarnContext(ctx, "model endpoint lacks something; going on without", "endpoint", e.name, "model", model, "lacks", traits.String(), "refusal", refusal)
			}
			e.traits.learn(model, traits, req)
			e.breaker.succeeded()
			return resp, cacheKey(ctx, e, req, model, traits), nil
		}
		heard = longer(heard, resp)
		if next, ok := traits.without(err, req); ok {
			if refusal == nil {
				refusal = err
			}
			traits = next
			continue
		}
		// What was refused first says more than what came of doing without.
		if refusal != nil && errors.Is(err, ErrRefused) {
			err = refusal
		}
		if !err.retryable || retries >= e.cfg.Retries || h.others && (err.broken || err.retryAfter > 0) {
			e.blame(ctx, err, !err.broken)
			return heard, "", err
		}
		e.blame(ctx, err, false)
		if werr := e.wait(ctx, err, retries, h.opened); werr != nil {
			e.blame(ctx, werr, true)
			return heard, "", werr
		}
		trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(attribute.String("error.type", kindName(err))))
		retries++
	}
}

// probing is how long an endpoint that failed may take to list its models.
const probing = time.Second

func (e *endpoint) isAlive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	return e.wireClient.isAlive(ctx)
}

// blame tells the breaker of an attempt that failed, and whether it was the last
// of its call. A request that the endpoint refused, or that its caller gave up
// soon, says nothing of the next.
func (e *endpoint) blame(ctx context.Context, err *Error, last bool) {
	fails := errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRateLimited) || err.misplaced || err.late
	if !fails || errors.Is(err, errElsewhere) || err.hurried && !err.late {
		e.breaker.left()
		return
	}
	e.observer.failed(ctx, e.name, err)
	e.breaker.failed(err.retryAfter, last && !err.late)
}

// wait sleeps before a retry; it fails at once when there is no time for it, and
// when other calls fail too.
func (e *endpoint) wait(ctx context.Context, cause *Error, retries int, opened <-chan struct{}) *Error {
	delay := e.cfg.RetryDelay << min(retries, 16)
	delay += time.Duration(rand.Float64() * 0.25 * float64(delay))
	if cause.retryAfter > 0 {
		delay = cause.retryAfter
	}
	deadline, bounded := ctx.Deadline()
	if delay > e.cfg.MaxRetryDelay || (bounded && time.Until(deadline) < delay) {
		return &Error{kind: cause.kind, cause: cause.cause, retryAfter: cause.retryAfter, broken: cause.broken, what: fmt.Sprintf("%s; a retry would have to wait %v", cause.what, delay.Round(time.Millisecond))}
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return contextError(ctx, "wait to retry after: "+cause.what)
	case <-opened:
		return cause
	case <-timer.C:
		return nil
	}
}

// attempt asks once, within the budget and the limit on calls in flight.
func (e *endpoint) attempt(ctx context.Context, req Request, model string, t traits, h how) (Response, *Error) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-h.opened:
		return Response{}, &Error{kind: ErrUnavailable, cause: errElsewhere, what: fmt.Sprintf("call the model at %s: not asked, as %v", e.name, errElsewhere)}
	case <-ctx.Done():
		return Response{}, contextError(ctx, fmt.Sprintf("wait for one of %d calls in flight to end (llm.max_in_flight)", e.cfg.MaxInFlight))
	}
	guess := estimate(req.Messages, req.MaxTokens)
	held, err := req.Ledger.reserve(guess.PromptTokens+guess.CompletionTokens, e.cost(model, guess))
	if err != nil {
		return Response{}, err
	}
	x := &exchange{told: told(req)}
	actx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	actx, end := h.share(actx, ctx, x)
	defer end()
	req.Delta = req.telling.again(req.Delta)

	began := time.Now()
	resp, cause := e.send(actx, req, model, t, x)
	if !x.answered {
		req.Ledger.release(held)
	} else {
		resp.Usage = counted(req, resp)
		resp.Usage.CostUSD = e.cost(model, resp.Usage)
		req.Ledger.settle(held, resp.Usage, resp.Model)
	}
	if cause == nil {
		return resp, nil
	}
	fail := e.classify(ctx, actx, cause, x)
	fail.late = (fail.hurried || errors.Is(fail, context.DeadlineExceeded)) && time.Since(began) >= min(e.cfg.Timeout/2, patience)
	if req.Delta != nil && resp.Text != "" && !errors.Is(fail, ErrUnusable) {
		fail.broken = true
		return resp, fail
	}
	return Response{Usage: resp.Usage}, fail
}

// patience is what an endpoint has of a caller's before it counts as hanging,
// although the caller would not wait any longer.
const patience = 5 * time.Second

// longer is the response that says more.
func longer(a, b Response) Response {
	if len(b.Text) > len(a.Text) {
		return b
	}
	return a
}

// cost by the configured prices, in US dollars.
func (e *endpoint) cost(model string, u Usage) float64 {
	for _, p := range e.cfg.Prices {
		if p.Model == model {
			return (float64(u.PromptTokens)*p.Input + float64(u.CompletionTokens)*p.Output) / 1e6
		}
	}
	return 0
}
