package mesh

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// awaitServing returns once every service says SERVING.
func (m *Mesh) awaitServing(ctx context.Context) error {
	for _, s := range m.stages {
		secure, err := s.credentials()
		if err == nil {
			err = awaitServing(ctx, dialable(s.addr()), secure)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func awaitServing(ctx context.Context, addr string, secure credentials.TransportCredentials) error {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(secure))
	if err != nil {
		return err
	}
	defer conn.Close()
	for {
		resp, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true))
		if err == nil && resp.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Serving reports whether a service at addr, reached by credentials, says
// SERVING within the time that ctx has. The error says what it said instead.
func Serving(ctx context.Context, addr string, secure credentials.TransportCredentials) error {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(secure))
	if err != nil {
		return err
	}
	defer conn.Close()
	resp, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		return err
	}
	if resp.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("it says %s", resp.GetStatus())
	}
	return nil
}

// credentials reach a service for its health as somebody can who may read its
// files.
func (s *service) credentials() (credentials.TransportCredentials, error) {
	if !s.server.TLS.Enabled() {
		return insecure.NewCredentials(), nil
	}
	return s.server.TLS.Visitor(s.name).Credentials(s.name)
}
