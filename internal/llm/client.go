package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/triplemesh/triplemesh/internal/llm/cache"
)

// Telemetry is where a client reports to; *telemetry.Telemetry is one.
type Telemetry interface {
	TracerProvider() trace.TracerProvider
	MeterProvider() metric.MeterProvider
	Logger() *slog.Logger
}

// Client asks models. It is safe for concurrent use and needs no closing.
type Client struct {
	cfg       Config
	endpoints []*endpoint
	cache     *cache.Cache
	flights   flights
	observer  *observer
	log       *slog.Logger
}

// New makes a client. It asks nothing yet; a wrong setting is an error here, an
// endpoint that is down is one of Complete.
func New(cfg Config, tel Telemetry) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure the model client: %w", err)
	}
	obs, err := newObserver(cfg, tel)
	if err != nil {
		return nil, fmt.Errorf("configure the model client: %w", err)
	}
	c := &Client{cfg: cfg, observer: obs, log: tel.Logger()}
	if cfg.Cache.Dir != "" || cfg.Cache.MemoryEntries > 0 {
		if c.cache, err = cache.Open(cfg.Cache.Dir, cfg.Cache.MaxBytes, cfg.Cache.MemoryEntries); err != nil {
			return nil, fmt.Errorf("configure the model client: llm.cache.dir: %w", err)
		}
	}
	for i, e := range cfg.endpoints() {
		c.endpoints = append(c.endpoints, newEndpoint(e, i > 0, cfg, obs, c.log))
	}
	return c, nil
}

// Complete implements Completer.
func (c *Client) Complete(ctx context.Context, req Request) (Response, error) {
	if req.Ledger == nil {
		return Response{}, fmt.Errorf("call a model for task %q: the request has no ledger", req.Task)
	}
	model := req.Ledger.Model()
	if model == "" {
		model = c.cfg.Model
	}
	ctx, call := c.observer.start(ctx, req, model, c.endpoints[0])
	resp, err := c.answer(ctx, req, model)
	call.end(resp, err)
	return resp, err
}

// answer takes the cached answer, or waits for the same question that is
// already being asked, or asks.
func (c *Client) answer(ctx context.Context, req Request, model string) (Response, error) {
	if c.cache == nil {
		return c.ask(ctx, req, model)
	}
	for {
		first := c.endpoints[0]
		key := first.key(ctx, req, first.model(model))
		if key == "" {
			return c.ask(ctx, req, model)
		}
		if resp, ok := c.cached(key); ok {
			return deliver(req, resp), nil
		}
		f, leads := c.flights.join(key)
		if leads {
			return c.lead(ctx, req, model, key, f)
		}
		select {
		case <-ctx.Done():
			return Response{}, contextError(ctx, "wait for the same question that is already being asked")
		case <-f.done:
		}
		if f.err == nil {
			resp := f.resp
			resp.Cached = true
			return deliver(req, resp), nil
		}
		// The other call's budget, deadline or broken stream is not this one's.
		if !shared(f.err) {
			continue
		}
		return Response{}, f.err
	}
}

// lead asks for everyone who joined a flight.
func (c *Client) lead(ctx context.Context, req Request, model, key string, f *flight) (resp Response, err error) {
	// Stands when req.Delta panics: those who joined then ask for themselves.
	err = &Error{kind: ErrUnavailable, broken: true, what: "the call that asked the same question ended early"}
	defer func() { c.flights.land(key, f, resp, err) }()
	// Another flight may have landed since the cache was looked at.
	if got, ok := c.cached(key); ok {
		return deliver(req, got), nil
	}
	resp, err = c.ask(ctx, req, model)
	return resp, err
}

// ask goes through the endpoints until one answers. Where none does and one
// wants to be asked later, it is asked once more then.
func (c *Client) ask(ctx context.Context, req Request, model string) (Response, error) {
	if req.Delta != nil {
		req.telling = &telling{out: req.Delta}
	}
	var failed []error
	var heard Response
	var later *endpoint
	var wants *Error
	for e, h := range c.inTurn() {
		resp, key, err := e.complete(ctx, req, e.model(model), h)
		if err == nil {
			c.store(key, resp)
			return resp, nil
		}
		failed, heard = append(failed, err), longer(heard, resp)
		if !passOn(err) {
			return heard, all(failed)
		}
		if len(c.endpoints) > 1 {
			c.log.WarnContext(ctx, "model endpoint failed, trying the next", "endpoint", e.name, "error", err)
		}
		if own := (*Error)(nil); len(c.endpoints) > 1 && errors.As(err, &own) && own.retryable && own.retryAfter > 0 && (wants == nil || own.retryAfter < wants.retryAfter) {
			later, wants = e, own
		}
	}
	if later != nil && later.wait(ctx, wants, 0, nil) == nil {
		resp, key, err := later.complete(ctx, req, later.model(model), how{})
		if err == nil {
			c.store(key, resp)
			return resp, nil
		}
		failed, heard = append(failed, err), longer(heard, resp)
	}
	return heard, all(failed)
}

// inTurn are the endpoints whose breakers let a call through and then the
// others: one that failed a moment ago is still better than none.
func (c *Client) inTurn() iter.Seq2[*endpoint, how] {
	return func(yield func(*endpoint, how) bool) {
		if len(c.endpoints) == 1 {
			yield(c.endpoints[0], how{})
			return
		}
		var last []*endpoint
		after := len(c.endpoints)
		for _, e := range c.endpoints {
			opened, ok := e.breaker.allow()
			if !ok {
				last = append(last, e)
				continue
			}
			after--
			if !yield(e, how{others: true, after: after, probes: opened == nil, opened: opened}) {
				return
			}
		}
		for _, e := range last {
			after--
			if !yield(e, how{others: true, after: after}) {
				return
			}
		}
	}
}

// passOn tells whether another endpoint may do better.
func passOn(err error) bool {
	for _, own := range []error{ErrBudget, ErrUnusable, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, own) {
			return false
		}
	}
	return true
}

// shared tells whether an error is the endpoint's and so the same for everyone
// who asked the same question.
func shared(err error) bool {
	var e *Error
	return errors.As(err, &e) && !e.broken && (passOn(err) || errors.Is(err, ErrUnusable))
}

// all makes one error of those of all endpoints, of the kind of the last.
func all(failed []error) error {
	if len(failed) == 1 {
		return failed[0]
	}
	var last *Error
	off := false
	texts := make([]string, len(failed))
	for i, err := range failed {
		texts[i] = err.Error()
		errors.As(err, &last)
		off = off || last != nil && last.broken
	}
	if last == nil {
		return errors.Join(failed...)
	}
	return &Error{kind: last.kind, cause: errors.Join(failed...), broken: off, what: "no model endpoint answered: " + strings.Join(texts, "; ")}
}

// deliver hands a whole answer to a request that counts and streams.
func deliver(req Request, resp Response) Response {
	req.Ledger.cached(resp.Model, resp.Usage)
	if req.Delta != nil {
		req.Delta(resp.Text)
	}
	return resp
}
