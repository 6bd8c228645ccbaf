package orchestrator_test

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// healthy is a stage that says how it is, or fails to.
func healthy(t *testing.T, says healthpb.HealthCheckResponse_ServingStatus, fails error) grpc.ClientConnInterface {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
		handler grpc.UnaryHandler) (any, error) {
		if fails != nil {
			return nil, fails
		}
		return handler(ctx, req)
	}))
	service := health.NewServer()
	service.SetServingStatus("", says)
	healthpb.RegisterHealthServer(srv, service)
	go func() { _ = srv.Serve(lis) }()
	t.Cleanup(srv.Stop)
	return dialPlain(t, lis.Addr().String())
}

func dialPlain(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestTheMeshTellsHowItsStagesAre(t *testing.T) {
	service, _ := local(t, stagetest.New(t))
	service.Mesh = orchestrator.Mesh{Version: "v1.2.3", TraceURL: "https://traces.example.org/{trace_id}",
		Stages: []orchestrator.Peer{
			{Name: "generator", Conn: healthy(t, healthpb.HealthCheckResponse_SERVING, nil)},
			{Name: "retriever", Conn: healthy(t, healthpb.HealthCheckResponse_NOT_SERVING, nil)},
			{Name: "verifier", Conn: dialPlain(t, "127.0.0.1:1")},
			{Name: "evaluator", Conn: healthy(t, healthpb.HealthCheckResponse_SERVING, status.Error(codes.Internal,
				"at 10.1.2.3"))},
			{Name: "reflector", Conn: healthy(t, healthpb.HealthCheckResponse_SERVING,
				status.Error(codes.DeadlineExceeded, "late"))},
		}}
	resp, err := service.GetMesh(t.Context(), &orchestratorv1.GetMeshRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if resp.GetVersion() != "v1.2.3" || resp.GetTraceUrl() != "https://traces.example.org/{trace_id}" {
		t.Errorf("got version %q and trace url %q", resp.GetVersion(), resp.GetTraceUrl())
	}
	for i, want := range []struct{ stage, err string }{
		{"orchestrator", ""},
		{"generator", ""},
		{"retriever", "it says NOT_SERVING"},
		{"verifier", "it cannot be reached, or says that it cannot serve"},
		{"evaluator", "asked how it is, it answered Internal"},
		{"reflector", "it did not answer within 2s"},
	} {
		got := resp.GetStages()[i]
		if got.GetStage() != want.stage || got.GetError() != want.err || got.GetServing() != (want.err == "") ||
			got.GetLatency() == nil {
			t.Errorf("stage %d: got %v, want %+v", i, got, want)
		}
	}
}

func TestAnOrchestratorKnowsItsMesh(t *testing.T) {
	mesh := stagetest.New(t)
	resp, err := serve(t, mesh).GetMesh(t.Context(), &orchestratorv1.GetMeshRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.GetStages()) != 6 || resp.GetVersion() == "" {
		t.Errorf("got %v", resp)
	}
}
