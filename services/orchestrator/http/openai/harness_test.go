package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/openai"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// front is a connection to the orchestrator and the services that it forwards.
type front struct{ orchestrator, stages grpc.ClientConnInterface }

func (f front) connFor(method string) grpc.ClientConnInterface {
	if strings.HasPrefix(method, "/triplemesh.orchestrator.") {
		return f.orchestrator
	}
	return f.stages
}

func (f front) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	return f.connFor(method).Invoke(ctx, method, req, resp, opts...)
}

func (f front) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string,
	opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return f.connFor(method).NewStream(ctx, desc, method, opts...)
}

// refusing fails every call.
type refusing struct{ err error }

func (r refusing) Invoke(context.Context, string, any, any, ...grpc.CallOption) error { return r.err }

func (r refusing) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, r.err
}

// serve serves an orchestrator over scripted stages and returns the base URL.
func serve(t *testing.T, mesh *stagetest.Mesh, cfg openai.Config) string {
	t.Helper()
	s := testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
		cfg := orchestrator.DefaultConfig()
		cfg.Telemetry.LogWriter = t.Output()
		cfg.Runs.File = filepath.Join(t.TempDir(), "runs.db")
		for _, c := range []*client.Config{&cfg.Generator, &cfg.Retriever, &cfg.Verifier, &cfg.Evaluator,
			&cfg.Reflector} {
			*c = mesh.Client()
		}
		cfg.Server.Listener, cfg.HTTP.Addr = l, ""
		return orchestrator.Run(ctx, cfg)
	})
	conn, err := client.Dial(mesh.Client(), telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return open(t, front{s.Conn, conn}, cfg)
}

func open(t *testing.T, conn grpc.ClientConnInterface, cfg openai.Config) string {
	t.Helper()
	server := httptest.NewServer(openai.New(conn, cfg))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// severalKGs scripts two readable knowledge graphs and one unreadable.
func severalKGs(mesh *stagetest.Mesh) {
	stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse, error) {
		resp := &retrieverv1.ListKnowledgeGraphsResponse{}
		for _, info := range []*retrieverv1.SnapshotInfo{
			{Kg: &graphv1.KnowledgeGraphRef{Name: "films", Snapshot: 1}, Active: true},
			{Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 3}, Active: true},
			{Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 2}},
			{Kg: &graphv1.KnowledgeGraphRef{Name: "idle", Snapshot: 1}},
		} {
			if req.GetKgName() == "" || req.GetKgName() == info.GetKg().GetName() {
				resp.Snapshots = append(resp.Snapshots, info)
			}
		}
		return resp, nil
	})
}

// call sends a request and returns status, header and body.
func call(t *testing.T, method, url, body string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, text
}

// decode decodes JSON and fails the test on errors.
func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, bytes.TrimSpace(text))
	}
	return v
}

// film is a request with the scripted question to a model; more are further fields.
func film(model, more string) string {
	return `{"model": "` + model + `", "messages": [{"role": "user", "content": "` + stagetest.Film + `"}]` + more + `}`
}
