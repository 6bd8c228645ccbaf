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
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asking is an orchestrator of functions.
type asking struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	ask    func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error)
	stream func(*orchestratorv1.AskRequest, grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error
	runs   func(*orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error)
}

func (a *asking) Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	return a.ask(ctx, req)
}

func (a *asking) AskStream(req *orchestratorv1.AskStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	return a.stream(req.GetRequest(), stream)
}

func (a *asking) ListRuns(_ context.Context,
	req *orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error) {
	return a.runs(req)
}

// graphs is a knowledge graph service that records its requests.
type graphs struct {
	retrieverv1.UnimplementedKnowledgeGraphServiceServer
	asked chan any
	load  func(retrieverv1.KnowledgeGraphService_LoadKnowledgeGraphStreamServer) error
}

func (g *graphs) ListKnowledgeGraphs(_ context.Context,
	req *retrieverv1.ListKnowledgeGraphsRequest) (*retrieverv1.ListKnowledgeGraphsResponse, error) {
	g.asked <- req
	return &retrieverv1.ListKnowledgeGraphsResponse{}, nil
}

func (g *graphs) ActivateSnapshot(_ context.Context,
	req *retrieverv1.ActivateSnapshotRequest) (*retrieverv1.ActivateSnapshotResponse, error) {
	g.asked <- req
	return &retrieverv1.ActivateSnapshotResponse{}, nil
}

func (g *graphs) CompactSnapshot(_ context.Context,
	req *retrieverv1.CompactSnapshotRequest) (*retrieverv1.CompactSnapshotResponse, error) {
	g.asked <- req
	return &retrieverv1.CompactSnapshotResponse{}, nil
}

func (g *graphs) RollbackKnowledgeGraph(_ context.Context,
	req *retrieverv1.RollbackKnowledgeGraphRequest) (*retrieverv1.RollbackKnowledgeGraphResponse, error) {
	g.asked <- req
	return &retrieverv1.RollbackKnowledgeGraphResponse{}, nil
}

func (g *graphs) ListRankers(_ context.Context,
	req *retrieverv1.ListRankersRequest) (*retrieverv1.ListRankersResponse, error) {
	g.asked <- req
	return &retrieverv1.ListRankersResponse{}, nil
}

func (g *graphs) ActivateRanker(_ context.Context,
	req *retrieverv1.ActivateRankerRequest) (*retrieverv1.ActivateRankerResponse, error) {
	g.asked <- req
	return &retrieverv1.ActivateRankerResponse{}, nil
}

func (g *graphs) RollbackRanker(_ context.Context,
	req *retrieverv1.RollbackRankerRequest) (*retrieverv1.RollbackRankerResponse, error) {
	g.asked <- req
	return &retrieverv1.RollbackRankerResponse{}, nil
}

func (g *graphs) DeleteRanker(_ context.Context,
	req *retrieverv1.DeleteRankerRequest) (*retrieverv1.DeleteRankerResponse, error) {
	g.asked <- req
	return &retrieverv1.DeleteRankerResponse{}, nil
}

func (g *graphs) DropKnowledgeGraph(_ context.Context,
	req *retrieverv1.DropKnowledgeGraphRequest) (*retrieverv1.DropKnowledgeGraphResponse, error) {
	g.asked <- req
	return &retrieverv1.DropKnowledgeGraphResponse{}, nil
}

func (g *graphs) ProposeColumns(_ context.Context,
	req *retrieverv1.ProposeColumnsRequest) (*retrieverv1.ProposeColumnsResponse, error) {
	g.asked <- req
	return &retrieverv1.ProposeColumnsResponse{}, nil
}

func (g *graphs) LoadKnowledgeGraphStream(
	stream retrieverv1.KnowledgeGraphService_LoadKnowledgeGraphStreamServer) error {
	return g.load(stream)
}

// reading is a retriever that records its requests.
type reading struct {
	retrieverv1.UnimplementedRetrieverServiceServer
	asked chan any
}

func (r *reading) ListNeighbours(_ context.Context,
	req *retrieverv1.ListNeighboursRequest) (*retrieverv1.ListNeighboursResponse, error) {
	r.asked <- req
	return &retrieverv1.ListNeighboursResponse{Total: 1 << 60}, nil
}

func (r *reading) BatchGetEntities(_ context.Context,
	req *retrieverv1.BatchGetEntitiesRequest) (*retrieverv1.BatchGetEntitiesResponse, error) {
	r.asked <- req
	return &retrieverv1.BatchGetEntitiesResponse{}, nil
}

// api is the HTTP API of a server under test.
type api struct {
	url    string
	asking *asking
	graphs *graphs
	asked  chan any
}

// start serves the API as the orchestrator does, until the test ends.
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
	handler, err := rest.New(conn, settings.Heartbeat)
	if err != nil {
		t.Fatal(err)
	}
	front, err := web.New(settings, nil, tel, web.Route{Pattern: "/api/", Handler: handler, Uploads: rest.Uploads})
	if err != nil {
		t.Fatal(err)
	}
	srv.SetFront(front)
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

// send sends a request with a JSON body, unless headers set another type.
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
	if err := json.Unmarshal([]byte(body), &p); err != nil || resp.Header.Get("Content-Type") != problem.ContentType ||
		p.Status != resp.StatusCode {
		t.Fatalf("it is no problem: %d %v %s: %v", resp.StatusCode, resp.Header, body, err)
	}
	return p
}

// event is one server-sent event, or a comment, whose name is ":".
type event struct{ name, data string }

// events reads events as they arrive.
type events struct {
	*bufio.Scanner
}

func readEvents(body io.Reader) events {
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

// next returns the next event; false after the last.
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

func (e events) collect() (all []event) {
	for {
		ev, ok := e.next()
		if !ok {
			return all
		}
		all = append(all, ev)
	}
}

// patience is the timeout of any step.
const patience = 20 * time.Second

// once waits for an event that must happen.
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
