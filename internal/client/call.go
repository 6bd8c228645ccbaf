package client

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// caller sends what belongs to a request along with each of its calls, and
// takes up what comes back.
type caller struct {
	reserve  time.Duration
	share    float64
	retries  bool
	patience time.Duration
	throttle *throttle
	log      *slog.Logger
}

func (c caller) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if pinned(ctx) != nil {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	if err := c.throttle.admit(); err != nil {
		return err
	}
	ctx, cancel, err := c.begin(ctx, method)
	if err != nil {
		return err
	}
	defer cancel()
	var header, trailer metadata.MD
	opts = append(opts, grpc.Header(&header), grpc.Trailer(&trailer))
	try := func(ctx context.Context) error {
		header, trailer = nil, nil
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	t := &tries{}
	again := c.retries && method != retrieverv1.KnowledgeGraphService_Rollback_FullMethodName
	for {
		err = c.try(withTries(ctx, t), cc, method, t, try)
		switch {
		case errors.Is(err, errLeft): // for a replica that the call was not at
			continue
		case again && cutShort(err, header, trailer):
			again = false
			if breathe(ctx) {
				continue
			}
		case c.retries && outdated(err) && t.more(): // while replicas are replaced one by one
			continue
		}
		c.throttle.heard(err)
		c.takeSpans(ctx, trailer)
		return explain(err, method)
	}
}

// try makes a call once. It returns errLeft where the call should go on to
// another replica.
func (c caller) try(ctx context.Context, cc *grpc.ClientConn, method string, t *tries, do func(context.Context) error) error {
	if !c.retries || !mayMove(method) {
		return do(ctx)
	}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	defer c.watch(ctx, cc, t, leave)()
	err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errLeft) {
		return errLeft
	}
	return err
}

func (c caller) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
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
	s := &callStream{method: method, call: c, cancel: cancel, leave: func(error) {}, answers: desc.ServerStreams}
	s.breathe = func() bool { return breathe(ctx) }
	s.movable = c.retries && !desc.ClientStreams && mayMove(method)
	s.open = func() error {
		s.leave(nil)
		var try context.Context
		try, s.leave = context.WithCancelCause(withTries(ctx, &s.tries))
		opened, err := open(try, desc, cc, method, opts...)
		if err != nil {
			return err
		}
		s.ClientStream = opened
		if s.movable {
			c.watch(try, cc, &s.tries, s.leave)
		}
		return nil
	}
	if err := s.open(); err != nil {
		cancel()
		return nil, encodeStatus(err)
	}
	return s, nil
}

// begin shaves the deadline and writes the metadata.
func (c caller) begin(ctx context.Context, method string) (context.Context, context.CancelFunc, error) {
	ctx = auth.Outgoing(ctx)
	if id := telemetry.RequestID(ctx); id != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, telemetry.RequestIDKey, id)
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
			"%s was not called: %s left, of which %s are kept for the answer", method, left.Round(time.Microsecond), reserve)
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
			c.log.WarnContext(ctx, "spans of a called service are missing", "error", err)
		}
	}
}

// encodeStatus gives the blame for a request that could not be encoded, which
// gRPC calls INTERNAL, to the one who made it.
func encodeStatus(err error) error {
	if st := status.Convert(err); st.Code() == codes.Internal && strings.HasPrefix(st.Message(), "grpc: error while marshaling") {
		return status.Error(codes.InvalidArgument, strings.TrimPrefix(st.Message(), "grpc: "))
	}
	return err
}
