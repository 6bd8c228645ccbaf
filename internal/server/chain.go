package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"google.golang.org/grpc"
)

// around is an interceptor of unary and streaming RPCs alike: it runs before
// and after next, which it gives the context to go on with. method is the full
// method, "/package.Service/Method".
type around func(ctx context.Context, method string, next func(context.Context) error) error

// interceptor is a link of the chain. Those that look at messages have onUnary
// and onStream; all others have around.
type interceptor struct {
	name     string
	around   around
	onUnary  grpc.UnaryServerInterceptor
	onStream grpc.StreamServerInterceptor
}

// chain is run from its first link, the outermost, to its last.
type chain []interceptor

func newChain(cfg Config, peers policy, gate *auth.Gate, audit *audit, tel *telemetry.Telemetry) (chain, error) {
	metrics, err := countRPCs(tel)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	validation, err := newValidation(cfg.Validator, tel.Service())
	if err != nil {
		return nil, fmt.Errorf("validation: %w", err)
	}
	authentication, err := authenticate(gate, tel)
	if err != nil {
		return nil, fmt.Errorf("authentication: %w", err)
	}
	admission, err := admit(cfg, tel)
	if err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	return chain{
		{name: "otel", around: returnSpans},
		{name: "local peer", around: nameLocalPeer},
		{name: "request id", around: requestID},
		{name: "audit", onUnary: audit.unary, onStream: audit.stream},
		{name: "metrics", around: metrics},
		{name: "logging", around: logRPCs(tel.Logger())},
		{name: "error mapping", around: mapErrors(tel.Service())},
		{name: "recovery", around: recoverPanics},
		{name: "deadline guard", around: guardDeadline(cfg, tel.Service())},
		{name: "peers", around: peers.refuseStrangers(tel.Service())},
		{name: "authentication", around: authentication},
		{name: "admission", around: admission},
		{name: "validation", onUnary: validation.unary, onStream: validation.stream},
	}, nil
}

func (c chain) names() []string {
	names := make([]string, len(c))
	for i, link := range c {
		names[i] = link.name
	}
	return names
}

func (c chain) unary() []grpc.UnaryServerInterceptor {
	links := make([]grpc.UnaryServerInterceptor, len(c))
	for i, link := range c {
		links[i] = link.onUnary
		if link.around != nil {
			links[i] = link.around.unary
		}
	}
	return links
}

func (c chain) stream() []grpc.StreamServerInterceptor {
	links := make([]grpc.StreamServerInterceptor, len(c))
	for i, link := range c {
		links[i] = link.onStream
		if link.around != nil {
			links[i] = link.around.stream
		}
	}
	return links
}

func (a around) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	err = a(ctx, info.FullMethod, func(ctx context.Context) (err error) {
		resp, err = handler(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (a around) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return a(ss.Context(), info.FullMethod, func(ctx context.Context) error {
		return handler(srv, contextStream{ss, ctx})
	})
}

type contextStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s contextStream) Context() context.Context { return s.ctx }

// housekeeping tells whether a method is one of health or reflection, which
// must answer when nothing else does and may stay open for ever.
func housekeeping(method string) bool {
	return isHealth(method) || strings.HasPrefix(method, "/grpc.reflection.")
}

func isHealth(method string) bool { return strings.HasPrefix(method, "/grpc.health.") }
