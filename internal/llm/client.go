package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"
)

// Telemetry is the instrumentation of a client, such as *telemetry.Telemetry.
type Telemetry interface {
	TracerProvider() trace.TracerProvider
	MeterProvider() metric.MeterProvider
	Logger() *slog.Logger
}

// Client calls models. It is safe for concurrent use and needs no closing.
type Client struct {
	cfg       Config
	endpoints []*endpoint
	cache     *Cache
	flights   singleflight.Group
	observer  *observer
	log       *slog.Logger
}

// New returns a client. A wrong setting is an error here, an endpoint that is down is one of
// Complete.
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
		if c.cache, err = OpenCache(cfg.Cache.Dir, cfg.Cache.MaxBytes, cfg.Cache.MemoryEntries); err != nil {
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
	if err := c.checkModel(req.Ledger); err != nil {
		return Response{}, err
	}
	model := cmp.Or(req.Ledger.Model(), c.cfg.Model)
	// In an RPC the caller learns by its headers that the stage is at work: without them it could not
	// tell a slow model from a stage that hangs, and would try another replica. This fails if they were
	// sent before, or if ctx belongs to no RPC.
	_ = grpc.SendHeader(ctx, nil)
	ctx, call := c.observer.start(ctx, req, model, c.endpoints[0])
	resp, ok, err := c.substitute(ctx, req)
	if !ok {
		resp, err = c.answer(ctx, req, model)
	}
	call.end(resp, err)
	return resp, err
}

// answer returns the cached answer, or waits for the same request that is in flight, or calls a
// model.
func (c *Client) answer(ctx context.Context, req Request, model string) (Response, error) {
	if c.cache == nil {
		return c.call(ctx, req, model)
	}
	for {
		first := c.endpoints[0]
		key := first.key(ctx, req, first.model(model))
		if key == "" {
			return c.call(ctx, req, model)
		}
		if resp, ok := c.lookup(key); ok {
			return deliver(req, resp), nil
		}
		// The leader calls the model in its own goroutine, which Delta requires; the group only
		// shares its result.
		leads, result := make(chan struct{}), make(chan flightResult, 1)
		flight := c.flights.DoChan(key, func() (any, error) {
			close(leads)
			r := <-result
			return r.resp, r.err
		})
		select {
		case <-leads:
			return c.lead(ctx, req, model, key, result)
		case <-ctx.Done():
			result <- flightResult{err: errLeaderGone} // in case this call leads
			return Response{}, contextError(ctx, "wait for the same request in flight")
		case shared := <-flight:
			if shared.Err == nil {
				resp := shared.Val.(Response)
				resp.Cached = true
				return deliver(req, resp), nil
			}
			// The other call's budget, deadline or broken stream is not this one's.
			if isShareable(shared.Err) {
				return Response{}, shared.Err
			}
		}
	}
}

var errStarting = errorf(ErrUnavailable, "the model server is starting; try again in a few seconds")

// flightResult is the answer that the leader of a flight shares.
type flightResult struct {
	resp Response
	err  error
}

// errLeaderGone makes the other calls of a flight call a model themselves.
var errLeaderGone = &Error{kind: ErrUnavailable, interrupted: true, text: "the call with the same request ended early"}

// lead calls a model for all calls of a flight.
func (c *Client) lead(ctx context.Context, req Request, model, key string,
	result chan<- flightResult) (resp Response, err error) {
	err = errLeaderGone // remains if req.Delta panics
	defer func() { result <- flightResult{resp, err} }()
	// Another flight may have ended since the lookup.
	if cached, ok := c.lookup(key); ok {
		return deliver(req, cached), nil
	}
	resp, err = c.call(ctx, req, model)
	return resp, err
}

// call tries the endpoints until one answers. If none does, the one with the shortest Retry-After
// is tried once more.
func (c *Client) call(ctx context.Context, req Request, model string) (Response, error) {
	if c.cfg.Started != nil {
		select {
		case <-c.cfg.Started:
		default:
			return Response{}, errStarting
		}
	}
	if req.Delta != nil {
		req.merger = &deltaMerger{emit: req.Delta}
	}
	var failures []error
	var partial Response
	var later *endpoint
	var pause *Error
	for e, opts := range c.inOrder() {
		resp, key, err := e.complete(ctx, req, e.model(model), opts)
		if err == nil {
			c.store(key, resp)
			return resp, nil
		}
		failures, partial = append(failures, err), longer(partial, resp)
		if !isEndpointFailure(err) {
			return partial, joinFailures(failures)
		}
		if len(c.endpoints) == 1 {
			continue
		}
		c.log.WarnContext(ctx, logFallback, "endpoint", e.name, "error", err)
		if own := (*Error)(nil); errors.As(err, &own) && own.retryable && own.retryAfter > 0 &&
			(pause == nil || own.retryAfter < pause.retryAfter) {
			later, pause = e, own
		}
	}
	if later != nil && later.waitBackoff(ctx, pause, 0, nil) == nil {
		resp, key, err := later.complete(ctx, req, later.model(model), callOptions{})
		if err == nil {
			c.store(key, resp)
			return resp, nil
		}
		failures, partial = append(failures, err), longer(partial, resp)
	}
	return partial, joinFailures(failures)
}

// inOrder yields the endpoints whose circuits are closed, then the others: one that failed a moment
// ago is still better than none.
func (c *Client) inOrder() iter.Seq2[*endpoint, callOptions] {
	return func(yield func(*endpoint, callOptions) bool) {
		if len(c.endpoints) == 1 {
			yield(c.endpoints[0], callOptions{})
			return
		}
		var open []*endpoint
		remaining := len(c.endpoints)
		for _, e := range c.endpoints {
			opened, ok := e.breaker.allow()
			if !ok {
				open = append(open, e)
				continue
			}
			remaining--
			opts := callOptions{alternatives: true, remaining: remaining, probe: opened == nil, opened: opened}
			if !yield(e, opts) {
				return
			}
		}
		for _, e := range open {
			remaining--
			if !yield(e, callOptions{alternatives: true, remaining: remaining}) {
				return
			}
		}
	}
}

// isEndpointFailure reports whether another endpoint may succeed.
func isEndpointFailure(err error) bool {
	return !errors.Is(err, ErrBudget) && !errors.Is(err, ErrUnusable) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded)
}

// isShareable reports whether an error is the endpoint's, and so the same for every caller with the
// same request.
func isShareable(err error) bool {
	var e *Error
	return errors.As(err, &e) && !e.interrupted && (isEndpointFailure(err) || errors.Is(err, ErrUnusable))
}

// joinFailures returns one error for the failures of all endpoints, of the kind of the last.
func joinFailures(failures []error) error {
	if len(failures) == 1 {
		return failures[0]
	}
	var last *Error
	interrupted := false
	texts := make([]string, len(failures))
	for i, err := range failures {
		texts[i] = err.Error()
		errors.As(err, &last)
		interrupted = interrupted || last != nil && last.interrupted
	}
	if last == nil {
		return errors.Join(failures...)
	}
	return &Error{kind: last.kind, cause: errors.Join(failures...), interrupted: interrupted,
		text: "no model endpoint answered: " + strings.Join(texts, "; ")}
}

// deliver passes a cached answer to the ledger and to Delta.
func deliver(req Request, resp Response) Response {
	req.Ledger.chargeCached(resp.Model, resp.Usage)
	if req.Delta != nil {
		req.Delta(resp.Text)
	}
	return resp
}
