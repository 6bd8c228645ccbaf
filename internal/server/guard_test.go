package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/server"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

func TestDeadlines(t *testing.T) {
	left := make(chan time.Duration, 1)
	r := start(t, "reflector",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			deadline, ok := ctx.Deadline()
			if !ok {
				left <- -1
			} else {
				left <- time.Until(deadline)
			}
			return echo(ctx, req)
		}), func(cfg *server.Config) { cfg.Timeout, cfg.MinTimeLeft = 40*time.Minute, time.Hour })

	t.Run("a request without a deadline is given one", func(t *testing.T) {
		if _, err := r.reflect(t.Context(), "why"); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got < 30*time.Minute || got > 40*time.Minute {
			t.Errorf("got %s left, want nearly 40 minutes", got)
		}
	})
	t.Run("a later deadline of the caller's is kept", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Hour)
		defer cancel()
		if _, err := r.reflect(ctx, "why"); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got < 90*time.Hour {
			t.Errorf("got %s left, want nearly 98 hours", got)
		}
	})
	t.Run("a request with too little time left is not begun", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		_, err := r.reflect(ctx, "why")
		wantInfo(t, wantCode(t, err, codes.DeadlineExceeded), "NO_TIME_LEFT", "reflector")
		if len(left) != 0 {
			t.Error("the handler ran")
		}
	})
	t.Run("health answers all the same", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		if _, err := healthpb.NewHealthClient(r.conn).Check(ctx, &healthpb.HealthCheckRequest{}); err != nil {
			t.Error(err)
		}
	})
}

func TestARequestBeyondTheLimitWaitsForAPlace(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	r := start(t, "reflector",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			begun <- struct{}{}
			<-release
			return echo(ctx, req)
		}), func(cfg *server.Config) { cfg.MaxInFlight = 1 })
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := r.reflect(t.Context(), "one of two")
			ended <- err
		}()
	}
	<-begun
	select {
	case <-begun:
		t.Fatal("two were begun at once")
	default:
	}
	release <- struct{}{}
	<-begun
	close(release)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestMoreRequestsThanTheLimitAreTurnedAway(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	hold := func(ctx context.Context) {
		begun <- struct{}{}
		<-release
	}
	r := start(t, "orchestrator", func(s grpc.ServiceRegistrar) {
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			hold(ctx)
			return echo(ctx, req)
		})(s)
		streaming(func(_ *orchestratorv1.AskStreamRequest,
			stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
			hold(stream.Context())
			return nil
		})(s)
	}, func(cfg *server.Config) { cfg.MaxInFlight, cfg.MaxQueue = 2, 0 })

	ended := make(chan error, 2)
	go func() {
		_, err := r.reflect(t.Context(), "one")
		ended <- err
	}()
	stream, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).AskStream(t.Context(), askStream)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	<-begun

	_, err = r.reflect(t.Context(), "one too many")
	st := wantCode(t, err, codes.ResourceExhausted)
	wantInfo(t, st, "TOO_MANY_REQUESTS", "orchestrator")
	if retry := detail[*errdetails.RetryInfo](st); retry.GetRetryDelay().AsDuration() <= 0 {
		t.Errorf("got details %v, want when to try again", st.Details())
	}
	if _, err := healthpb.NewHealthClient(r.conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Errorf("health is turned away too: %v", err)
	}

	close(release)
	if err := <-ended; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	if _, err := stream.Recv(); err == nil {
		t.Error("the stream continues")
	}
	go func() { <-begun }()
	if _, err := r.reflect(t.Context(), "there is room again"); err != nil {
		t.Error(err)
	}
}
