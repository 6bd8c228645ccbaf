package server_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/testkit"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

func TestProbesAreAnsweredBesideTheServer(t *testing.T) {
	addr := testkit.FreeAddr(t)
	begun, release := make(chan struct{}), make(chan struct{})
	r := start(t, "reflector", holding(begun, release), func(cfg *server.Config) { cfg.HealthAddr = addr })
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	probe := func(want healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		got, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{},
			grpc.WaitForReady(true))
		if err != nil || got.GetStatus() != want {
			t.Errorf("got %v, %v, want %v", got.GetStatus(), err, want)
		}
	}
	answered := make(chan error, 1)
	go func() {
		_, err := r.reflect(t.Context(), "why")
		answered <- err
	}()
	<-begun
	probe(healthpb.HealthCheckResponse_SERVING)

	_, err = reflectorv1.NewReflectorServiceClient(conn).Reflect(t.Context(), reflectRequest("why"))
	wantCode(t, err, codes.Unimplemented)

	// While it drains it is there, and not ready.
	r.stop()
	waitForRefusal(t, r.addr)
	probe(healthpb.HealthCheckResponse_NOT_SERVING)
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	if err := <-r.stopped; err != nil {
		t.Errorf("serve: %v", err)
	}
	waitForRefusal(t, addr)
}

func TestAServerServesBeforeItIsReady(t *testing.T) {
	ready := make(chan struct{})
	addr := testkit.FreeAddr(t)
	r := start(t, "reflector", answering(echo), func(cfg *server.Config) { cfg.Ready, cfg.MetricsAddr = ready, addr })
	conn, err := grpc.NewClient(r.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	status := func() healthpb.HealthCheckResponse_ServingStatus {
		got, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{},
			grpc.WaitForReady(true))
		if err != nil {
			t.Fatal(err)
		}
		return got.GetStatus()
	}
	if _, err := reflectorv1.NewReflectorServiceClient(conn).Reflect(t.Context(), reflectRequest("why")); err != nil {
		t.Error(err)
	}
	if got := status(); got != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("before, it says %v", got)
	}
	readyz := func(code int, status string) {
		t.Helper()
		resp, err := http.Get("http://" + addr + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != code || string(text) != status+"\n" {
			t.Errorf("readyz says %d, %s, %v; want %d, %s", resp.StatusCode, text, err, code, status)
		}
	}
	readyz(http.StatusServiceUnavailable, "NOT_SERVING")
	close(ready)
	for deadline := time.Now().Add(10 * time.Second); status() != healthpb.HealthCheckResponse_SERVING; {
		if time.Now().After(deadline) {
			t.Fatal("it never says SERVING")
		}
		time.Sleep(time.Millisecond)
	}
	readyz(http.StatusOK, "SERVING")
}
