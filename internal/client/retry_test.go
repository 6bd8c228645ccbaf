package client_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"
)

func TestABurstOfCallsLostWithTheirMachineIsTriedElsewhere(t *testing.T) {
	const burst = 40
	arrived := make(chan struct{}, burst)
	dying, lis, served := grpc.NewServer(), listen(t), make(chan error, 1)
	reflectorv1.RegisterReflectorServiceServer(dying, reflector{reflect: func(ctx context.Context) error {
		arrived <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	go func() { served <- dying.Serve(lis) }()
	mesh := manual.NewBuilderWithScheme("mesh")
	mesh.InitialState(resolver.State{Addresses: []resolver.Address{{Addr: lis.Addr().String()}}})
	c := dial(t, "mesh:///reflector", func(cfg *client.Config) {
		cfg.Options = append(cfg.Options, grpc.WithResolvers(mesh))
	})
	ended := make(chan error, burst)
	for range burst {
		go func() {
			_, err := c.Reflect(t.Context(), why)
			ended <- err
		}()
	}
	for range burst {
		<-arrived
	}
	other := bare(t, func(context.Context) error { return nil })
	mesh.UpdateState(resolver.State{Addresses: []resolver.Address{{Addr: lis.Addr().String()}, {Addr: other}}})
	dying.Stop()
	<-served
	for range burst {
		if err := <-ended; err != nil {
			t.Errorf("a call under way failed: %v", err)
		}
	}
}

// verbose answers with more than goes through at once.
type verbose struct {
	reflectorv1.UnimplementedReflectorServiceServer
	calls *atomic.Int64
}

func (v verbose) Reflect(context.Context, *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
	v.calls.Add(1)
	return &reflectorv1.ReflectResponse{Reason: strings.Repeat("because ", 1<<17)}, nil
}

// cuttingProxy ends the first connections after so many bytes of the answers.
func cuttingProxy(t *testing.T, to string, connections int, after int64) string {
	lis := listen(t)
	t.Cleanup(func() { lis.Close() })
	go func() {
		for n := 0; ; n++ {
			near, err := lis.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				return
			}
			go func() {
				defer far.Close()
				_, _ = io.Copy(far, near)
			}()
			go func() {
				defer near.Close()
				if n < connections {
					_, _ = io.CopyN(near, far, after)
					return
				}
				_, _ = io.Copy(near, far)
			}()
		}
	}()
	return lis.Addr().String()
}

func TestAnAnswerThatWasCutShortIsAskedForOnceMore(t *testing.T) {
	for _, test := range []struct {
		name     string
		cut      int // connections
		attempts int // Config.MaxAttempts
		want     codes.Code
		calls    int64
	}{
		{"once is mended", 1, 3, codes.OK, 2},
		{"twice is not", 2, 3, codes.Unavailable, 2},
		{"nor where nothing is to be tried again", 1, 1, codes.Unavailable, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var calls atomic.Int64
			lis, s, served := listen(t), grpc.NewServer(), make(chan error, 1)
			reflectorv1.RegisterReflectorServiceServer(s, verbose{calls: &calls})
			go func() { served <- s.Serve(lis) }()
			t.Cleanup(func() {
				s.Stop()
				<-served
			})
			c := dial(t, cuttingProxy(t, lis.Addr().String(), test.cut, 100_000),
				func(cfg *client.Config) { cfg.MaxAttempts = test.attempts })
			resp, err := c.Reflect(t.Context(), why)
			if status.Code(err) != test.want || calls.Load() != test.calls {
				t.Errorf("got %v after %d calls, want %v after %d", err, calls.Load(), test.want, test.calls)
			}
			if err == nil && len(resp.GetReason()) != 1<<20 {
				t.Errorf("the answer has %d bytes", len(resp.GetReason()))
			}
		})
	}
}

// unavailable counts what it does not answer.
type unavailable struct {
	retrieverv1.UnimplementedKnowledgeGraphServiceServer
	calls *atomic.Int64
}

func (a unavailable) RollbackKnowledgeGraph(context.Context,
	*retrieverv1.RollbackKnowledgeGraphRequest) (*retrieverv1.RollbackKnowledgeGraphResponse, error) {
	a.calls.Add(1)
	return nil, status.Error(codes.Unavailable, "not now")
}

func (a unavailable) ActivateSnapshot(context.Context,
	*retrieverv1.ActivateSnapshotRequest) (*retrieverv1.ActivateSnapshotResponse, error) {
	a.calls.Add(1)
	return nil, status.Error(codes.Unavailable, "not now")
}

func TestARollbackIsNeverTriedAgain(t *testing.T) {
	var calls atomic.Int64
	lis, s, served := listen(t), grpc.NewServer(), make(chan error, 1)
	retrieverv1.RegisterKnowledgeGraphServiceServer(s, unavailable{calls: &calls})
	go func() { served <- s.Serve(lis) }()
	defer func() {
		s.Stop()
		<-served
	}()
	conn, err := client.Dial(client.DefaultConfig(lis.Addr().String()), telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	graphs := retrieverv1.NewKnowledgeGraphServiceClient(conn)
	if _, err := graphs.RollbackKnowledgeGraph(t.Context(),
		&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "rivers"}}); err == nil ||
		calls.Load() != 1 {
		t.Errorf("a rollback got %v after %d calls, want an error after 1", err, calls.Load())
	}
	calls.Store(0)
	if _, err := graphs.ActivateSnapshot(t.Context(), &retrieverv1.ActivateSnapshotRequest{}); err == nil ||
		calls.Load() != 3 {
		t.Errorf("an activation got %v after %d calls, want an error after 3", err, calls.Load())
	}
}
