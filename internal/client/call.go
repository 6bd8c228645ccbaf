package client

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/timeout"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/admission"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// caller makes the calls of a connection: it adds the metadata of the request that they belong to,
// shaves their deadline, throttles, retries and hedges them, and collects their spans.
type caller struct {
	reserve  time.Duration
	share    float64
	retries  bool
	patience time.Duration
	throttle *throttle
	log      *slog.Logger
}

// unaryChain is the chain of unary calls. Health checks that are pinned to a replica pass it with a
// timeout alone.
func (c caller) unaryChain() []grpc.UnaryClientInterceptor {
	pulses := selector.MatchFunc(func(ctx context.Context, _ interceptors.CallMeta) bool { return pinned(ctx) != nil })
	calls := selector.MatchFunc(func(ctx context.Context, _ interceptors.CallMeta) bool { return pinned(ctx) == nil })
	retried := selector.MatchFunc(func(ctx context.Context, m interceptors.CallMeta) bool {
		return c.retries && pinned(ctx) == nil && auth.LookupMethod(m.FullMethod()).Idempotent
	})
	return []grpc.UnaryClientInterceptor{
		selector.UnaryClientInterceptor(timeout.UnaryClientInterceptor(c.patience/2), pulses),
		selector.UnaryClientInterceptor(c.unary, calls),
		selector.UnaryClientInterceptor(retry.UnaryClientInterceptor(retry.WithMax(2),
			retry.WithBackoff(retry.BackoffLinear(retryBackoff)), retry.WithRetriable(isCutShort)), retried),
		selector.UnaryClientInterceptor(c.hedge, calls),
	}
}

func (c caller) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption) error {
	if err := c.throttle.admit(); err != nil {
		return err
	}
	ctx, cancel, err := c.begin(ctx, method)
	if err != nil {
		return err
	}
	defer cancel()
	var trailer metadata.MD
	err = invoke(withAttempts(ctx, &attempts{}), method, req, reply, cc, append(opts, grpc.Trailer(&trailer))...)
	if cut, ok := errors.AsType[*cutShortError](err); ok {
		err = cut.error
	}
	c.throttle.record(err)
	c.takeSpans(ctx, trailer)
	return explain(err, method)
}

// hedge makes a call, and makes it again at another replica if the first one shows no sign of life
// or is too old to know the method.
func (c caller) hedge(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	var header, trailer metadata.MD
	opts = append(opts, grpc.Header(&header), grpc.Trailer(&trailer))
	a := attemptsOf(ctx)
	for {
		header, trailer = nil, nil
		err := c.attempt(ctx, cc, method, a, func(ctx context.Context) error {
			return invoke(ctx, method, req, reply, cc, opts...)
		})
		switch {
		case errors.Is(err, errAbandoned):
			continue
		case c.retries && outdated(err) && a.hasAlternative(): // during a rolling upgrade
			continue
		case cutShort(err, header, trailer):
			return &cutShortError{err}
		}
		return err
	}
}

// attempt makes a call once. It returns errAbandoned if the call should move to another replica.
func (c caller) attempt(ctx context.Context, cc *grpc.ClientConn, method string, a *attempts,
	do func(context.Context) error) error {
	if !c.retries || !auth.LookupMethod(method).Hedgeable() {
		return do(ctx)
	}
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	defer c.watch(ctx, cc, a, abandon)()
	err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errAbandoned) {
		return errAbandoned
	}
	return err
}

func (c caller) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if pinned(ctx) != nil {
		return open(ctx, desc, cc, method, opts...)
	}
	if err := c.throttle.admit(); err != nil {
		return nil, err
	}
	ctx, cancel, err := c.begin(ctx, method)
	if err != nil {
		return nil, err
	}
	s := &callStream{method: method, call: c, cancel: cancel, abandon: func(error) {}, serverStream: desc.ServerStreams}
	s.waitBackoff = func() bool { return waitBackoff(ctx) }
	s.movable = c.retries && !desc.ClientStreams && auth.LookupMethod(method).Hedgeable()
	s.open = func() error {
		s.abandon(nil)
		var attempt context.Context
		attempt, s.abandon = context.WithCancelCause(withAttempts(ctx, &s.attempts))
		opened, err := open(attempt, desc, cc, method, opts...)
		if err != nil {
			return err
		}
		s.ClientStream = opened
		if s.movable {
			c.watch(attempt, cc, &s.attempts, s.abandon)
		}
		return nil
	}
	if err := s.open(); err != nil {
		cancel()
		return nil, blameEncoding(err)
	}
	return s, nil
}

// begin shaves the deadline and adds the metadata.
func (c caller) begin(ctx context.Context, method string) (context.Context, context.CancelFunc, error) {
	ctx = auth.Outgoing(ctx)
	if id := telemetry.RequestID(ctx); id != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, telemetry.RequestIDKey, id)
	}
	if admission.IsAdmitted(ctx) {
		ctx = metadata.AppendToOutgoingContext(ctx, admission.AdmittedKey, "1")
	}
	if telemetry.SpanSinkFrom(ctx) != nil {
		ctx = metadata.AppendToOutgoingContext(ctx, telemetry.CollectSpansKey, "1")
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, nil
	}
	left := time.Until(deadline)
	reserve := max(c.reserve, time.Duration(float64(left)*c.share))
	if left <= reserve {
		return nil, nil, status.Errorf(codes.DeadlineExceeded,
			"%s was not called: %s left, of which %s are kept for the answer", method, left.Round(time.Microsecond),
			reserve)
	}
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-reserve))
	return ctx, cancel, nil
}

func (c caller) takeSpans(ctx context.Context, trailer metadata.MD) {
	sink := telemetry.SpanSinkFrom(ctx)
	if sink == nil {
		return
	}
	for _, data := range trailer.Get(telemetry.SpansKey) {
		spans, err := telemetry.DecodeSpans([]byte(data))
		sink.Add(spans...)
		if err != nil {
			c.log.WarnContext(ctx, logSpansMissing, "error", err)
		}
	}
}

// blameEncoding makes a request that cannot be encoded the caller's mistake; gRPC reports INTERNAL.
func blameEncoding(err error) error {
	if st := status.Convert(err); st.Code() == codes.Internal && strings.HasPrefix(st.Message(),
		"grpc: error while marshaling") {
		return status.Error(codes.InvalidArgument, strings.TrimPrefix(st.Message(), "grpc: "))
	}
	return err
}
