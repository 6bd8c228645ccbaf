package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/server"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// front notes what it is told, and calls what is behind it while it goes down.
type front struct {
	listen error
	call   func() error
	told   chan string
	called error
	closed chan struct{}
}

func newFront() *front { return &front{told: make(chan string, 8), closed: make(chan struct{})} }

func (f *front) Listen() error { f.told <- "listen"; return f.listen }
func (f *front) Serve() error  { <-f.closed; return nil }
func (f *front) Shutdown(context.Context) {
	f.told <- "shutdown"
	f.called = f.call()
}
func (f *front) Close() error { f.told <- "close"; close(f.closed); return nil }

func TestWhatIsInFrontGoesDownFirst(t *testing.T) {
	f := newFront()
	r := start(t, "orchestrator", func(s grpc.ServiceRegistrar) {
		streaming(func(_ *orchestratorv1.AskStreamRequest,
			stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
			return stream.Send(&orchestratorv1.AskStreamResponse{})
		})(s)
		s.(*server.Server).SetFront(f)
	})
	local := r.locally(t)
	f.call = func() error { return ask(t, local) }
	wantCode(t, ask(t, r), codes.OK)
	r.stop()
	if err := <-r.stopped; err != nil {
		t.Fatal(err)
	}
	if f.called != nil {
		t.Errorf("a call of what goes down first ended with %v, want an answer", f.called)
	}
	close(f.told)
	var told []string
	for what := range f.told {
		told = append(told, what)
	}
	if got := strings.Join(told, " "); got != "listen shutdown close" {
		t.Errorf("it was told %q", got)
	}
}

func TestAServerDoesNotServeWithoutWhatIsInFront(t *testing.T) {
	tel, _ := telemetryFor(t, "orchestrator")
	s, err := server.New(server.DefaultConfig("127.0.0.1:0"), tel)
	if err != nil {
		t.Fatal(err)
	}
	f := newFront()
	f.listen = errors.New("the port is taken")
	s.SetFront(f)
	if err := s.Serve(t.Context()); !errors.Is(err, f.listen) {
		t.Errorf("got %v, want %v", err, f.listen)
	}
}
