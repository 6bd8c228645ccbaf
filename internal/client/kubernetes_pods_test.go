package client

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// countingStub is a pod that counts its calls.
type countingStub struct {
	*health.Server
	port  int
	calls atomic.Int64
}

func (p *countingStub) Check(ctx context.Context,
	req *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	p.calls.Add(1)
	return p.Server.Check(ctx, req)
}

func serve(t *testing.T) *countingStub {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &countingStub{Server: health.NewServer(), port: lis.Addr().(*net.TCPAddr).Port}
	s := grpc.NewServer()
	healthpb.RegisterHealthServer(s, p)
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return p
}

func TestATerminatingPodGetsNoNewCallsAndEndsItsOwn(t *testing.T) {
	c := newCluster(t)
	first, second := serve(t), serve(t)
	c.set("a", first.port, pod{"127.0.0.1", "ready"})
	conn, err := grpc.NewClient(podTarget, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithResolvers(&kubernetesBuilder{API: c.api, Log: slog.New(slog.DiscardHandler)}),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := healthpb.NewHealthClient(conn)
	underWay, err := client.Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := underWay.Recv(); err != nil {
		t.Fatal(err)
	}

	c.set("b", second.port, pod{"127.0.0.1", "ready"})
	call := func() {
		t.Helper()
		if _, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	for second.calls.Load() == 0 {
		call()
	}
	c.set("a", first.port, pod{"127.0.0.1", "terminating"})
	for row := 0; row < 50; row++ { // until only the second answers
		before := first.calls.Load()
		if call(); first.calls.Load() != before {
			row = 0
		}
	}
	first.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
	if got, err := underWay.Recv(); err != nil || got.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("the call under way got %v, %v, want to go on", got, err)
	}
}
