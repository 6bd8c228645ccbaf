// Package server is the gRPC server that every stage runs: one chain of
// interceptors, health, reflection, and one way of going down.
package server

import (
	"fmt"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// minPing is the shortest time between a client's keepalive pings; the client
// of internal/client pings half as often.
const minPing = 10 * time.Second

// maxHeaders bounds a request's headers in bytes, by HTTP/2's count: room for
// the largest token, and not for 16 MiB of anything, which is gRPC's own bound.
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

// New makes a server that is not serving yet. Register services with it, then
// call Serve. The error names the setting that is wrong.
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
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge:      cfg.MaxConnectionAge,
			MaxConnectionAgeGrace: cfg.MaxConnectionAgeGrace,
			Time:                  30 * time.Second,
			Timeout:               10 * time.Second,
		}),
	}, cfg.Options...)
	s := &Server{cfg: cfg, tel: tel, grpc: grpc.NewServer(opts...), health: newHealthService(), gate: gate, audit: audit, local: newLocalListener(), front: make(noFront)}
	s.health.register(s.grpc)
	reflection.Register(s.grpc)
	return s, nil
}

// Registrar is where a stage's services are registered, before Serve.
func (s *Server) Registrar() grpc.ServiceRegistrar { return s }

// RegisterService implements grpc.ServiceRegistrar.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	s.grpc.RegisterService(withDecodeErrors(desc), impl)
	s.health.add(desc.ServiceName)
}

// SetServing says by the health service whether a registered service, by its
// full name, can answer. All can from Serve on unless told otherwise. The
// server as a whole ("") is serving all the same: the clients of
// internal/client go by it, and a service that cannot answer must not shut the
// others off.
func (s *Server) SetServing(service string, serving bool) { s.health.set(service, serving) }
