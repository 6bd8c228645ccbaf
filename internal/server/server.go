// Package server is the gRPC server that every stage runs: one chain of
// interceptors, health, reflection, and one way of going down.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// minKeepaliveInterval is the shortest time between a client's keepalive pings; the client
// of internal/client pings half as often.
const minKeepaliveInterval = 10 * time.Second

// maxHeaders bounds a request's headers in bytes, as HTTP/2 counts them. It fits the largest token;
// gRPC's default is 16 MiB.
const maxHeaders = 32 << 10

// Server serves the services of one stage.
type Server struct {
	cfg    Config
	tel    *telemetry.Telemetry
	grpc   *grpc.Server
	health *healthService
	gate   *auth.Gate
	audit  *audit
	local  localListener
	front  Front
}

// New returns a server. Register services with it, then call Serve. The error names the invalid
// setting.
func New(cfg Config, tel *telemetry.Telemetry) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("make server of %s: %w", tel.Service(), err)
	}
	peers := cfg.TLS.policy(tel.Service())
	gate, err := auth.NewGate(cfg.Auth, peers.meshPeer, tel.Logger())
	if err != nil {
		return nil, fmt.Errorf("make server of %s: auth: %w", tel.Service(), err)
	}
	audit, err := newAudit(cfg.Audit, gate, tel)
	if err != nil {
		return nil, fmt.Errorf("make server of %s: %w", tel.Service(), err)
	}
	chain, err := newChain(cfg, peers, gate, audit, tel)
	if err != nil {
		return nil, fmt.Errorf("make server of %s: %w", tel.Service(), err)
	}
	if cfg.Credentials == nil {
		if cfg.Credentials, err = cfg.TLS.credentials(tel); err != nil {
			return nil, fmt.Errorf("make server of %s: %w", tel.Service(), err)
		}
	}
	opts := append([]grpc.ServerOption{
		grpc.Creds(localCredentials{cfg.Credentials}),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.StatsHandler(newSpanHandler(tel)),
		grpc.ChainUnaryInterceptor(chain.unary()...),
		grpc.ChainStreamInterceptor(chain.stream()...),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.MaxRecvMsgSize(cfg.maxMessage()),
		grpc.MaxSendMsgSize(cfg.maxMessage()),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minKeepaliveInterval,
			PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge:      cfg.MaxConnectionAge,
			MaxConnectionAgeGrace: cfg.MaxConnectionAgeGrace,
			Time:                  30 * time.Second,
			Timeout:               10 * time.Second,
		}),
	}, cfg.Options...)
	s := &Server{cfg: cfg, tel: tel, grpc: grpc.NewServer(opts...), health: newHealthService(), gate: gate,
		audit: audit, local: newLocalListener(), front: make(noFront)}
	s.health.register(s.grpc)
	reflection.Register(s.grpc)
	return s, nil
}

// Registrar is where a stage's services are registered, before Serve.
func (s *Server) Registrar() grpc.ServiceRegistrar { return s }

// RegisterService implements grpc.ServiceRegistrar.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	s.grpc.RegisterService(withLateDecoding(desc), impl)
	s.health.add(desc.ServiceName)
}

// SetServing sets the health of a registered service, by its full name. All are serving from Serve
// on by default. The server as a whole ("") stays serving: the clients of internal/client follow
// its status, and one failed service must not take down the others.
func (s *Server) SetServing(service string, serving bool) { s.health.set(service, serving) }

// Front is a listener for another protocol, such as HTTP, which calls this server through Local.
// Both start and stop together.
type Front interface {
	// Listen binds the port, so that errors surface before anything serves.
	Listen() error
	// Serve serves until Shutdown or Close, and returns nil after them.
	Serve() error
	// Shutdown stops accepting, and returns when no request is in flight or ctx ends.
	Shutdown(ctx context.Context)
	// Close cancels the requests in flight, after a moment for them to respond.
	Close() error
}

// SetFront puts a server in front of this one. Call it before Serve.
func (s *Server) SetFront(f Front) { s.front = f }

// noFront is the Front of a server without one.
type noFront chan struct{}

func (noFront) Listen() error            { return nil }
func (f noFront) Serve() error           { <-f; return nil }
func (noFront) Shutdown(context.Context) {}
func (f noFront) Close() error           { close(f); return nil }

// AnnounceWork sends the headers of an RPC, by which the client knows that the replica works on it
// and does not hang. Only the first call has an effect.
func AnnounceWork(ctx context.Context) {
	_ = grpc.SendHeader(ctx, nil) // fails if headers were sent or ctx is not of an RPC
}

// Service is what a stage serves. One that is an io.Closer too is closed after the server has
// stopped and before telemetry does, so that errors of closing are still reported.
type Service interface {
	Register(grpc.ServiceRegistrar)
}

// Run starts the stage's telemetry, builds its service and serves it until ctx ends; then it stops
// these in reverse order. It shares nothing with other stages in the same process.
func Run(ctx context.Context, name string, tc telemetry.Config, cfg Config,
	build func(*telemetry.Telemetry) (Service, error)) (err error) {
	tel, err := telemetry.Start(ctx, tc, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tel.Shutdown(context.WithoutCancel(ctx))) }()
	service, err := build(tel)
	if err != nil {
		return err
	}
	if c, ok := service.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	srv, err := New(cfg, tel)
	if err != nil {
		return err
	}
	service.Register(srv.Registrar())
	return srv.Serve(ctx)
}

// Services are served together by one server.
type Services []Service

// Register implements Service.
func (s Services) Register(r grpc.ServiceRegistrar) {
	for _, service := range s {
		service.Register(r)
	}
}
