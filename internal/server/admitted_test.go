package server_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/admission"
	"github.com/triplemesh/triplemesh/internal/server"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// A server with one place, which is taken: a call is refused, or waits because it belongs to a
// question that was admitted.
func TestCallsOfAdmittedQuestionsWaitOnlyIfAStageSendsThem(t *testing.T) {
	k := newKeepers(t)
	for _, test := range []struct {
		name, service string
		authenticate  bool
		token         string
		mark          bool
		waits         bool
	}{
		{"a stage, with the mark", "reflector", true, meshSecret, true, true},
		{"a stage, without it", "reflector", true, meshSecret, false, false},
		{"a caller of the mesh, with the mark", "retriever", true, k.admin, true, false},
		{"anybody, without authentication", "reflector", false, "", true, true},
		{"anybody at the orchestrator, which no stage calls", "orchestrator", false, "", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			begun, end := make(chan struct{}, 2), make(chan struct{})
			r := start(t, test.service, answering(func(ctx context.Context,
				req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
				begun <- struct{}{}
				<-end
				return echo(ctx, req)
			}), func(cfg *server.Config) {
				cfg.MaxInFlight, cfg.MaxQueue = 1, 0
				if test.authenticate {
					k.enable(cfg)
				}
			}).strange(t)
			ctx := t.Context()
			if test.token != "" {
				pairs := []string{}
				if test.token == meshSecret {
					pairs = append(pairs, "triplemesh-tenant", "acme")
				}
				ctx = withToken(ctx, test.token, pairs...)
			}
			first := make(chan error, 1)
			go func() {
				_, err := r.reflect(ctx, "first")
				first <- err
			}()
			<-begun
			if test.mark {
				ctx = metadata.AppendToOutgoingContext(ctx, admission.AdmittedKey, "1")
			}
			second := make(chan error, 1)
			go func() {
				_, err := r.reflect(ctx, "second")
				second <- err
			}()
			if !test.waits {
				if err := <-second; status.Code(err) != codes.ResourceExhausted {
					t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
				}
				close(end)
			} else {
				select {
				case err := <-second:
					t.Errorf("got %v, want it to wait", err)
				case <-time.After(50 * time.Millisecond):
				}
				close(end)
				if err := <-second; err != nil {
					t.Error(err)
				}
			}
			if err := <-first; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCallsForAnAdmittedRequestCarryItsMark(t *testing.T) {
	marks := make(chan []string, 2)
	stage := start(t, "reflector", answering(func(ctx context.Context,
		req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
		marks <- metadata.ValueFromIncomingContext(ctx, admission.AdmittedKey)
		return echo(ctx, req)
	}))
	front := start(t, "evaluator", answering(func(ctx context.Context,
		req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
		return stage.reflect(ctx, req.GetQuestion())
	}))
	if _, err := front.strange(t).reflect(t.Context(), "why"); err != nil {
		t.Fatal(err)
	}
	if got := <-marks; len(got) != 1 {
		t.Errorf("the call of an admitted request carries %q, want its mark", got)
	}
	if _, err := stage.reflect(t.Context(), "why"); err != nil {
		t.Fatal(err)
	}
	if got := <-marks; len(got) != 0 {
		t.Errorf("a call of its own carries %q", got)
	}
}
