package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
	"github.com/triplemesh/triplemesh/services/orchestrator/rest"
	"github.com/triplemesh/triplemesh/services/orchestrator/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asking is an orchestrator made of functions.
type asking struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	ask    func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error)
	stream func(*orchestratorv1.AskRequest, grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error
	runs   func(*orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error)
}

func (a *asking) Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	return a.ask(ctx, req)
}

func (a *asking) AskStream(req *orchestratorv1.AskStreamRequest, stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	return a.stream(req.GetRequest(), stream)
}

func (a *asking) ListRuns(_ context.Context, req *orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error) {
	return a.runs(req)
}

// graphs is a service of knowledge graphs that keeps what it is asked.
type graphs struct {
	retrieverv1.UnimplementedKnowledgeGraphServiceServer
	asked chan any
	load  func(retrieverv1.KnowledgeGraphService_LoadStreamServer) error
}

func (g *graphs) List(_ context.Context, req *retrieverv1.ListRequest) (*retrieverv1.ListResponse, error) {
	g.asked <- req
	return &retrieverv1.ListResponse{}, nil
}

func (g *graphs) Activate(_ context.Context, req *retrieverv1.ActivateRequest) (*retrieverv1.ActivateResponse, error) {
	g.asked <- req
	return &retrieverv1.ActivateResponse{}, nil
}

func (g *graphs) Compact(_ context.Context, req *retrieverv1.CompactRequest) (*retrieverv1.CompactResponse, error) {
	g.asked <- req
	return &retrieverv1.CompactResponse{}, nil
}

func (g *graphs) Rollback(_ context.Context, req *retrieverv1.RollbackRequest) (*retrieverv1.RollbackResponse, error) {
	g.asked <- req
	return &retrieverv1.RollbackResponse{}, nil
}

func (g *graphs) Drop(_ context.Context, req *retrieverv1.DropRequest) (*retrieverv1.DropResponse, error) {
	g.asked <- req
	return &retrieverv1.DropResponse{}, nil
}

func (g *graphs) LoadStream(stream retrieverv1.KnowledgeGraphService_LoadStreamServer) error {
	return g.load(stream)
}

// reading is a retriever that keeps what it is asked.
type reading struct {
	retrieverv1.UnimplementedRetrieverServiceServer
	asked chan any
}

func (r *reading) Neighbours(_ context.Context, req *retrieverv1.NeighboursRequest) (*retrieverv1.NeighboursResponse, error) {
	r.asked <- req
	return &retrieverv1.NeighboursResponse{Total: 1 << 60}, nil
}

// api is the HTTP API of a server under test.
type api struct {
	url    string
	asking *asking
	graphs *graphs
	asked  chan any
}

// start serves the API until the test ends, as the orchestrator does.
func start(t testing.TB, set ...func(*web.Config)) *api {
	t.Helper()
	grpcLis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	httpLis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tel, err := telemetry.Start(t.Context(), telemetry.Config{LogWriter: io.Discard}, "orchestrator")
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.DefaultConfig("")
	cfg.Listener = grpcLis
	srv, err := server.New(cfg, tel)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan any, 16)
	a := &api{url: "http://" + httpLis.Addr().String(), asking: &asking{}, graphs: &graphs{asked: asked}, asked: asked}
	orchestratorv1.RegisterOrchestratorServiceServer(srv, a.asking)
	retrieverv1.RegisterKnowledgeGraphServiceServer(srv, a.graphs)
	retrieverv1.RegisterRetrieverServiceServer(srv, &reading{asked: asked})
	conn, err := srv.Local()
	if err != nil {
		t.Fatal(err)
	}
	settings := web.DefaultConfig()
	settings.Listener = httpLis
	for _, f := range set {
		f(&settings)
	}
	door, err := rest.New(conn, settings.Heartbeat)
	if err != nil {
		t.Fatal(err)
	}
	front, err := web.New(settings, nil, tel, web.Door{Pattern: "/api/", Handler: door, Uploads: rest.Uploads})
	if err != nil {
		t.Fatal(err)
	}
	srv.Before(front)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := errors.Join(<-served, conn.Close(), tel.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return a
}

// send sends a request whose body is JSON, unless headers say something else.
func (a *api) send(t testing.TB, ctx context.Context, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (a *api) do(t testing.TB, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	resp := a.send(t, t.Context(), method, path, body, headers...)
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func problemIn(t testing.TB, resp *http.Response, body string) problem.Problem {
	t.Helper()
	var p problem.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || resp.Header.Get("Content-Type") != problem.ContentType || p.Status != resp.StatusCode {
		t.Fatalf("it is no problem: %d %v %s: %v", resp.StatusCode, resp.Header, body, err)
	}
	return p
}

// event is one server-sent event, or a comment, whose name is ":".
type event struct{ name, data string }

// events reads events as they come.
type events struct {
	*bufio.Scanner
}

func read(body io.Reader) events {
	s := bufio.NewScanner(body)
	s.Buffer(nil, 1<<20)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.Index(data, []byte("\n\n")); i >= 0 {
			return i + 2, data[:i], nil
		}
		return 0, nil, nil
	})
	return events{s}
}

// next is the next event; false after the last.
func (e events) next() (event, bool) {
	if !e.Scan() {
		return event{}, false
	}
	if comment, ok := strings.CutPrefix(e.Text(), ":"); ok {
		return event{":", comment}, true
	}
	name, data, _ := strings.Cut(e.Text(), "\n")
	return event{strings.TrimPrefix(name, "event: "), strings.TrimPrefix(data, "data: ")}, true
}

func (e events) all() (all []event) {
	for {
		ev, ok := e.next()
		if !ok {
			return all
		}
		all = append(all, ev)
	}
}

// patience is how long anything may take before it counts as hanging.
const patience = 20 * time.Second

// once waits for something that must happen.
func once[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("it does not happen")
	}
	panic("unreachable")
}
