package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
)

// holding answers when release is closed, having said that it began.
func holding(begun chan<- struct{}, release <-chan struct{}) func(grpc.ServiceRegistrar) {
	return answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
		close(begun)
		<-release
		return echo(ctx, req)
	})
}

func TestGoingDownLetsRequestsUnderWayEnd(t *testing.T) {
	begun, release, answered := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	r := start(t, "reflector", holding(begun, release))
	go func() {
		_, err := r.reflect(t.Context(), "why")
		answered <- err
	}()
	<-begun
	r.stop()
	waitForRefusal(t, r.addr)
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	if err := <-r.stopped; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// waitForRefusal returns once nothing listens at addr any more.
func waitForRefusal(t *testing.T, addr string) {
	t.Helper()
	for t.Context().Err() == nil {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoingDownCutsWhatDoesNotEnd(t *testing.T) {
	begun := make(chan struct{})
	r := start(t, "orchestrator", streaming(func(_ *orchestratorv1.AskStreamRequest,
		stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
		close(begun)
		<-stream.Context().Done()
		return stream.Context().Err()
	}), func(cfg *server.Config) { cfg.DrainTimeout = time.Millisecond })
	stream, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).AskStream(t.Context(), askStream)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	r.stop()
	if err := <-r.stopped; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := stream.Recv(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the stream cut", err)
	}
}

func TestHealthFollowsTheServer(t *testing.T) {
	const service = "triplemesh.reflector.v1.ReflectorService"
	r := start(t, "reflector", answering(echo))
	health := healthpb.NewHealthClient(r.conn)
	// The first call waits until the server serves.
	if _, err := r.reflect(t.Context(), "why", grpc.WaitForReady(true)); err != nil {
		t.Fatal(err)
	}
	check := func(name string, want healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		got, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: name})
		if err != nil || got.GetStatus() != want {
			t.Errorf("health of %q: got %v, %v, want %v", name, got.GetStatus(), err, want)
		}
	}
	watch, err := health.Watch(t.Context(), &healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	hears := func(want healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		got, err := watch.Recv()
		if err != nil || got.GetStatus() != want {
			t.Fatalf("watch: got %v, %v, want %v", got.GetStatus(), err, want)
		}
	}
	hears(healthpb.HealthCheckResponse_SERVING)
	check("", healthpb.HealthCheckResponse_SERVING)
	check(service, healthpb.HealthCheckResponse_SERVING)

	_, err = health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "nobody"})
	wantCode(t, err, codes.NotFound)

	r.SetServing(service, false)
	hears(healthpb.HealthCheckResponse_NOT_SERVING)
	check(service, healthpb.HealthCheckResponse_NOT_SERVING)
	check("", healthpb.HealthCheckResponse_SERVING)
	r.SetServing(service, true)
	hears(healthpb.HealthCheckResponse_SERVING)

	r.stop()
	hears(healthpb.HealthCheckResponse_NOT_SERVING)
	if err := <-r.stopped; err != nil {
		t.Errorf("serve: %v; an open watch must not hold up the end", err)
	}
}

func TestReflectionListsTheServices(t *testing.T) {
	r := start(t, "reflector", answering(echo))
	stream, err := reflectionv1.NewServerReflectionClient(r.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	answer, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range answer.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	want := "grpc.health.v1.Health grpc.reflection.v1.ServerReflection grpc.reflection.v1alpha.ServerReflection " +
		"triplemesh.reflector.v1.ReflectorService"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got services %s, want %s", got, want)
	}
}

func TestMetricsAreServed(t *testing.T) {
	addr := testkit.FreeAddr(t)
	r := start(t, "reflector", answering(echo), func(cfg *server.Config) { cfg.MetricsAddr = addr })
	if _, err := r.reflect(t.Context(), "why"); err != nil {
		t.Fatal(err)
	}
	_, err := r.reflect(t.Context(), "")
	wantCode(t, err, codes.InvalidArgument)
	if _, err := healthpb.NewHealthClient(r.conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`rpc_code="OK"`, `rpc_code="INVALID_ARGUMENT"`, `rpc_reason="INVALID_REQUEST"`, "triplemesh_rpc_in_flight",
		`service_name="triplemesh-reflector"`, "rpc_server_", "go_goroutines",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the metrics lack %s:\n%s", want, page)
		}
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "triplemesh_rpc_in_flight{") && strings.Contains(line, "grpc.health") {
			t.Errorf("health checks count as in flight: %s", line)
		}
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, test := range []struct {
		name string
		set  func(*server.Config)
		want string
	}{
		{"no address", func(cfg *server.Config) { cfg.Addr = "" }, "addr"},
		{"an address without a port", func(cfg *server.Config) { cfg.Addr = "localhost" }, `addr "localhost"`},
		{"a negative limit", func(cfg *server.Config) { cfg.MaxInFlight = -1 }, "max_in_flight"},
		{"an address in use", func(cfg *server.Config) { cfg.Addr = taken.Addr().String() }, "server.addr"},
		{"metrics at an address in use", func(cfg *server.Config) { cfg.MetricsAddr = taken.Addr().String() },
			"server.metrics_addr"},
		{"health at an address in use", func(cfg *server.Config) { cfg.HealthAddr = taken.Addr().String() },
			"server.health_addr"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := server.DefaultConfig("127.0.0.1:0")
			test.set(&cfg)
			tel, _ := telemetryFor(t, "reflector")
			s, err := server.New(cfg, tel)
			if err == nil {
				err = s.Serve(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "reflector") {
				t.Errorf("got error %v, want %s and the service named", err, test.want)
			}
		})
	}
}

func TestAServerThatIsStoppedBeforeItBeginsHasNotFailed(t *testing.T) {
	cfg := server.DefaultConfig("127.0.0.1:0")
	s, err := server.New(cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Serve(ctx); err != nil {
		t.Errorf("got %v, want an orderly end", err)
	}
}
