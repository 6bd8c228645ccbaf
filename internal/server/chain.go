package server

import (
	"context"
	"fmt"
	"strings"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// link is an interceptor of the chain, for unary and for streaming RPCs.
type link struct {
	name   string
	unary  grpc.UnaryServerInterceptor
	stream grpc.StreamServerInterceptor
}

// chain runs from its first link, the outermost, to its last.
type chain []link

func newChain(cfg Config, peers policy, gate *auth.Gate, audit *audit, tel *telemetry.Telemetry) (chain, error) {
	metrics, err := newRPCMetrics(tel)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	validation, err := validate(cfg.Validator, tel.Service())
	if err != nil {
		return nil, fmt.Errorf("validation: %w", err)
	}
	authentication, err := authenticate(gate, tel)
	if err != nil {
		return nil, fmt.Errorf("authentication: %w", err)
	}
	admission, err := admit(cfg, peers, tel)
	if err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	return chain{
		returnSpans.link("otel"),
		nameLocalPeer.link("local peer"),
		assignRequestID.link("request id"),
		{"audit", audit.unary, audit.stream},
		{"metrics", interceptors.UnaryServerInterceptor(metrics), interceptors.StreamServerInterceptor(metrics)},
		logRPCs(tel.Logger()),
		mapErrors(tel.Service()).link("error mapping"),
		{"recovery", recovery.UnaryServerInterceptor(), recovery.StreamServerInterceptor()},
		guardDeadline(cfg, tel.Service()).link("deadline guard").skipHousekeeping(),
		peers.refuseStrangers(tel.Service()),
		authentication,
		admission.link("admission").skipHousekeeping(),
		validation.skipHousekeeping(),
	}, nil
}

func (c chain) unary() []grpc.UnaryServerInterceptor {
	all := make([]grpc.UnaryServerInterceptor, len(c))
	for i, l := range c {
		all[i] = l.unary
	}
	return all
}

func (c chain) stream() []grpc.StreamServerInterceptor {
	all := make([]grpc.StreamServerInterceptor, len(c))
	for i, l := range c {
		all[i] = l.stream
	}
	return all
}

// onlyFor restricts a link to the RPCs that match.
func (l link) onlyFor(matcher selector.Matcher) link {
	return link{l.name, selector.UnaryServerInterceptor(l.unary, matcher),
		selector.StreamServerInterceptor(l.stream, matcher)}
}

func (l link) skipHousekeeping() link { return l.onlyFor(matchHousekeeping(false)) }

// around is an interceptor for unary and streaming RPCs that does not look at messages: it runs
// before and after next, to which it passes the context.
type around func(ctx context.Context, call interceptors.CallMeta, next func(context.Context) error) error

func (a around) link(name string) link { return link{name, a.unary, a.stream} }

func (a around) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo,
	handler grpc.UnaryHandler) (resp any, err error) {
	err = a(ctx, interceptors.NewServerCallMeta(info.FullMethod, nil, req), func(ctx context.Context) (err error) {
		resp, err = handler(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (a around) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	call := interceptors.NewServerCallMeta(info.FullMethod, info, nil)
	return a(ss.Context(), call, func(ctx context.Context) error {
		return handler(srv, withContext(ctx, ss))
	})
}

func withContext(ctx context.Context, ss grpc.ServerStream) *middleware.WrappedServerStream {
	return &middleware.WrappedServerStream{ServerStream: ss, WrappedContext: ctx}
}

// housekeeping reports whether a service is health or reflection, which answer under any load and
// may keep streams open for ever.
func housekeeping(service string) bool {
	return isHealth(service) || strings.HasPrefix(service, "grpc.reflection.")
}

func isHealth(service string) bool { return strings.HasPrefix(service, "grpc.health.") }

// matchHousekeeping matches housekeeping RPCs, or all others.
func matchHousekeeping(want bool) selector.Matcher {
	return selector.MatchFunc(func(_ context.Context, c interceptors.CallMeta) bool {
		return housekeeping(c.Service) == want
	})
}
