package server

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// healthService is the standard health service, whose Watch streams end when
// the server goes down: left open they would hold up its graceful stop.
type healthService struct {
	*health.Server
	draining chan struct{}

	mu      sync.Mutex
	begun   bool
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

// begin makes the services known as serving.
func (h *healthService) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begun = true
	h.publish()
}

func (h *healthService) publish() {
	for service, serving := range h.serving {
		h.SetServingStatus(service, servingStatus(h.begun && serving))
	}
	h.SetServingStatus("", servingStatus(h.begun))
}

func servingStatus(serving bool) healthpb.HealthCheckResponse_ServingStatus {
	if serving {
		return healthpb.HealthCheckResponse_SERVING
	}
	return healthpb.HealthCheckResponse_NOT_SERVING
}

// end turns the Watch streams out. Shutdown, which turns every service to
// NOT_SERVING for good, comes before it.
func (h *healthService) end() { close(h.draining) }

// Watch tells of a service's status until the caller or the server goes. The
// last message of a server that goes down is NOT_SERVING.
func (h *healthService) Watch(req *healthpb.HealthCheckRequest, stream grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
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
