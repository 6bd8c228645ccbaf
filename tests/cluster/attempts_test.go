package cluster_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/tests/cluster"
)

// moody fails its first call.
type moody struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	calls atomic.Int64
}

func (m *moody) ListMethods(context.Context,
	*orchestratorv1.ListMethodsRequest) (*orchestratorv1.ListMethodsResponse, error) {
	if m.calls.Add(1) == 1 {
		return nil, status.Error(codes.Unavailable, "not now")
	}
	return &orchestratorv1.ListMethodsResponse{}, nil
}

func TestAttemptsThatRetriesHideAreCounted(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	orchestratorv1.RegisterOrchestratorServiceServer(s, &moody{})
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	defer func() {
		s.Stop()
		<-served
	}()
	var attempts cluster.Attempts
	cfg := client.DefaultConfig(lis.Addr().String())
	cfg.Options = append(cfg.Options, grpc.WithStatsHandler(&attempts))
	conn, err := client.Dial(cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := orchestratorv1.NewOrchestratorServiceClient(conn).ListMethods(t.Context(),
		&orchestratorv1.ListMethodsRequest{}); err != nil {
		t.Fatal(err)
	}
	if attempts.All.Load() != 2 || attempts.Failed.Load() != 1 {
		t.Errorf("counted %d attempts, %d failed, want 2 and 1", attempts.All.Load(), attempts.Failed.Load())
	}
}
