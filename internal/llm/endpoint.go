package llm

import (
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

// endpoint asks one place, again where that may help.
type endpoint struct {
	cfg     Config
	own     Endpoint
	spare   bool   // a fallback, whose own model goes before the one asked for
	name    string // the URL without user and password, for people
	client  *openai.Client
	slots   chan struct{}
	breaker *breaker
	traits  traitBook
	log     *slog.Logger
}

func newEndpoint(e Endpoint, spare bool, cfg Config, log *slog.Logger) *endpoint {
	conf := openai.DefaultConfig(e.APIKey)
	conf.BaseURL = e.BaseURL
	conf.HTTPClient = newDoer(cfg)
	// Lines without data between two pieces: providers keep a stream alive so.
	conf.EmptyMessagesLimit = 100_000
	return &endpoint{
		cfg: cfg, own: e, spare: spare, name: display(e.BaseURL), log: log,
		// Each has its own: one that hangs must not hold the places of the others.
		slots: make(chan struct{}, cfg.MaxInFlight), breaker: newBreaker(),
		client: openai.NewClientWithConfig(conf),
		traits: traitBook{first: initialTraits(e.Capabilities), caps: e.Capabilities},
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

// complete asks until there is an answer, or no use in asking again. It also
// returns the cache key of what was really asked. An answer that broke off in
// mid-stream comes with its error. Nothing is waited for once opened is closed.
func (e *endpoint) complete(ctx context.Context, req Request, model string, opened <-chan struct{}) (Response, string, error) {
	traits := e.traits.get(model)
	known := traits
	var refusal *Error
	for retries := 0; ; {
		resp, err := e.attempt(ctx, req, model, traits, opened)
		if err == nil {
			if traits != known {
				e.log.WarnContext(ctx, "model endpoint lacks something; going on without", "endpoint", e.name, "model", model, "lacks", traits.String(), "refusal", refusal)
			}
			e.traits.learn(model, traits, req)
			e.breaker.succeeded()
			return resp, cacheKey(ctx, e, req, model, traits), nil
		}
		if resp.Text != "" {
			e.blame(err, false)
			return resp, "", err
		}
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
		if !err.retryable || retries >= e.cfg.Retries {
			e.blame(err, true)
			return Response{}, "", err
		}
		e.blame(err, false)
		if werr := e.wait(ctx, err, retries, opened); werr != nil {
			e.blame(werr, true)
			return Response{}, "", werr
		}
		trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(attribute.String("error.type", kindName(err))))
		retries++
	}
}

// blame tells the breaker of an attempt that failed, and whether it was the last
// of its call. A request that the endpoint refused, or that its caller gave up,
// says nothing of the next.
func (e *endpoint) blame(err *Error, last bool) {
	if (errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRateLimited)) && !errors.Is(err, errElsewhere) {
		e.breaker.failed(err.retryAfter, last)
	} else {
		e.breaker.left()
	}
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
		return &Error{kind: cause.kind, cause: cause.cause, retryAfter: delay, what: fmt.Sprintf("%s; a retry would have to wait %v", cause.what, delay.Round(time.Millisecond))}
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
func (e *endpoint) attempt(ctx context.Context, req Request, model string, t traits, opened <-chan struct{}) (Response, *Error) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-opened:
		return Response{}, &Error{kind: ErrUnavailable, cause: errElsewhere, what: fmt.Sprintf("call the model at %s: not asked, as %v", e.name, errElsewhere)}
	case <-ctx.Done():
		return Response{}, contextError(ctx, fmt.Sprintf("wait for one of %d calls in flight to end (llm.max_in_flight)", e.cfg.MaxInFlight))
	}
	guess := estimate(req.Messages, req.MaxTokens)
	held, err := req.Ledger.reserve(guess.PromptTokens+guess.CompletionTokens, e.cost(model, guess))
	if err != nil {
		return Response{}, err
	}
	x := &exchange{zeroTemperature: req.Temperature == 0 && !t.noTemperature, maxBytes: e.cfg.MaxResponseBytes, task: req.Task}
	actx, cancel := context.WithTimeout(withExchange(ctx, x), e.cfg.Timeout)
	defer cancel()

	resp, cause := e.send(actx, req, model, t)
	if cause == nil {
		cause = check(e.name, resp)
	}
	if !x.answered {
		req.Ledger.release(held)
	} else {
		if resp.Usage.PromptTokens+resp.Usage.CompletionTokens == 0 {
			resp.Usage = estimate(req.Messages, 0)
			resp.Usage.CompletionTokens = tokensIn(resp.Text)
		}
		resp.Usage.CostUSD = e.cost(model, resp.Usage)
		req.Ledger.settle(held, resp.Usage, resp.Model)
	}
	if cause == nil {
		return resp, nil
	}
	fail := e.classify(ctx, actx, cause, x)
	if req.Delta != nil && resp.Text != "" {
		// Pieces went out: asking again would say them twice.
		fail.retryable, fail.broken = false, true
		return resp, fail
	}
	return Response{Usage: resp.Usage}, fail
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

// estimate guesses tokens where nobody counts them.
func estimate(messages []Message, maxTokens int) Usage {
	u := Usage{CompletionTokens: maxTokens, Estimated: true}
	for _, m := range messages {
		u.PromptTokens += tokensIn(m.Content) + 4 // role and markers
	}
	return u
}

// tokensIn guesses at four bytes a token, usual for English text.
func tokensIn(text string) int { return (len(text) + 3) / 4 }
