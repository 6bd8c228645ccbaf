package server

import (
	"context"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// healthService is the standard health service whose Watch streams end on shutdown: open streams
// would block the graceful stop.
type healthService struct {
	*health.Server
	draining chan struct{}

	mu      sync.Mutex
	started bool
	serving map[string]bool
}

func newHealthService() *healthService {
	h := &healthService{Server: health.NewServer(), draining: make(chan struct{}), serving: map[string]bool{}}
	h.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
	return h
}

func (h *healthService) register(s grpc.ServiceRegistrar) { healthpb.RegisterHealthServer(s, h) }

func (h *healthService) add(service string) { h.set(service, true) }

func (h *healthService) set(service string, serving bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serving[service] = serving
	h.publish()
}

// start reports the services as serving.
func (h *healthService) start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.started = true
	h.publish()
}

func (h *healthService) publish() {
	for service, serving := range h.serving {
		h.SetServingStatus(service, servingStatus(h.started && serving))
	}
	h.SetServingStatus("", servingStatus(h.started))
}

func servingStatus(serving bool) healthpb.HealthCheckResponse_ServingStatus {
	if serving {
		return healthpb.HealthCheckResponse_SERVING
	}
	return healthpb.HealthCheckResponse_NOT_SERVING
}

// stopWatches ends the Watch streams. Shutdown, which sets every service to NOT_SERVING for good,
// must precede it.
func (h *healthService) stopWatches() { close(h.draining) }

// Watch streams a service's status until the caller leaves or the server shuts down. The last
// message on shutdown is NOT_SERVING.
func (h *healthService) Watch(req *healthpb.HealthCheckRequest,
	stream grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	go func() {
		select {
		case <-h.draining:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := h.Server.Watch(req, watchStream{stream, ctx})
	if stream.Context().Err() != nil || ctx.Err() == nil {
		return err
	}
	if err := stream.Send(&healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_NOT_SERVING}); err != nil {
		return err
	}
	return status.Error(codes.Unavailable, "the server is going down")
}

type watchStream struct {
	grpc.ServerStreamingServer[healthpb.HealthCheckResponse]
	ctx context.Context
}

func (s watchStream) Context() context.Context { return s.ctx }

// serveProbes serves only the health service, in plaintext: Kubernetes probes cannot present a
// certificate. It serves until the server has stopped, so that a draining server is not ready
// rather than unreachable.
func (s *Server) serveProbes() (*grpc.Server, error) {
	srv := grpc.NewServer(grpc.MaxRecvMsgSize(probeMaxMessage), grpc.MaxConcurrentStreams(probeMaxStreams))
	if s.cfg.HealthAddr == "" {
		return srv, nil
	}
	s.health.register(srv)
	lis, err := net.Listen("tcp", s.cfg.HealthAddr)
	if err != nil {
		return nil, fmt.Errorf("serve health of %s: %w; set server.health_addr to a free address or to nothing",
			s.tel.Service(), err)
	}
	go func() {
		if err := srv.Serve(lis); err != nil {
			s.tel.Logger().Error(logHealthStopped, "addr", lis.Addr().String(), "error", err)
		}
	}()
	return srv, nil
}

// Health checks are not authenticated, so they must stay cheap.
const (
	probeMaxMessage = 4 << 10
	probeMaxStreams = 16
)
