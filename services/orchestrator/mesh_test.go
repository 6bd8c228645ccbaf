package orchestrator_test

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
	"github.com/triplemesh/triplemesh/services/orchestrator/feedback"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// config is an orchestrator's that calls the scripted stages.
func testConfig(t *testing.T, mesh *stagetest.Mesh) orchestrator.Config {
	cfg := orchestrator.DefaultConfig()
	cfg.HTTP.Addr = ""
	cfg.Telemetry.LogWriter = t.Output()
	cfg.Runs.File = filepath.Join(t.TempDir(), "runs.db")
	for _, c := range []*client.Config{&cfg.Generator, &cfg.Retriever, &cfg.Verifier, &cfg.Evaluator, &cfg.Reflector} {
		*c = mesh.Client()
	}
	return cfg
}

// serve runs an orchestrator over the scripted stages.
func serve(t *testing.T, mesh *stagetest.Mesh) orchestratorv1.OrchestratorServiceClient {
	t.Helper()
	return serveWith(t, testConfig(t, mesh))
}

// serveWith runs an orchestrator.
func serveWith(t *testing.T, cfg orchestrator.Config) orchestratorv1.OrchestratorServiceClient {
	t.Helper()
	return orchestratorv1.NewOrchestratorServiceClient(connect(t, cfg))
}

// connect runs an orchestrator and returns a connection to it.
func connect(t *testing.T, cfg orchestrator.Config) *grpc.ClientConn {
	t.Helper()
	s := testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
		cfg.Server.Listener = l
		return orchestrator.Run(ctx, cfg)
	})
	return s.Conn
}

// local is the service without its server, so that a test can tell when a call
// has ended.
func local(t *testing.T, mesh *stagetest.Mesh) (*orchestrator.Service, *runs.Keeper) {
	t.Helper()
	return localWith(t, mesh, nil)
}

// measured is localWith, and what it tells of itself to who scrapes it.
func measured(t *testing.T, mesh *stagetest.Mesh, cfg quota.Config) (*orchestrator.Service, func() string) {
	t.Helper()
	tel, err := telemetry.Start(t.Context(), telemetry.Config{LogWriter: io.Discard}, "orchestrator")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Shutdown(context.Background()) })
	service, _ := localBy(t, mesh, cfg, tel)
	return service, func() string {
		page := httptest.NewRecorder()
		tel.MetricsHandler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
		return page.Body.String()
	}
}

// localWith holds tenants to limits, and has methods of the test's own.
func localWith(t *testing.T, mesh *stagetest.Mesh, cfg quota.Config,
	more ...method.Method) (*orchestrator.Service, *runs.Keeper) {
	t.Helper()
	return localBy(t, mesh, cfg, telemetry.Discard(), more...)
}

func localBy(t *testing.T, mesh *stagetest.Mesh, cfg quota.Config, tel *telemetry.Telemetry,
	more ...method.Method) (*orchestrator.Service, *runs.Keeper) {
	t.Helper()
	db, err := runs.Open(filepath.Join(t.TempDir(), "runs.db"), 10)
	if err != nil {
		t.Fatal(err)
	}
	keeper := runs.NewKeeper(db, nil)
	t.Cleanup(func() { keeper.Close() })
	conn, err := client.Dial(mesh.Client(), telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	sure, err := confidence.Default()
	if err != nil {
		t.Fatal(err)
	}
	marks, err := feedback.Open(filepath.Join(t.TempDir(), "feedback"), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	stages := mesh.Stages(t)
	service, err := orchestrator.New(orchestrator.Options{
		Stages: stages, Methods: append(more, method.All(stages, orchestrator.DefaultConfig().Ger)...),
		KnowledgeGraphs: retrieverv1.NewKnowledgeGraphServiceClient(conn), Confidence: sure, Runs: keeper,
		Feedback: marks, Quotas: limited(t, cfg), Telemetry: tel,
	})
	if err != nil {
		t.Fatal(err)
	}
	return service, keeper
}

// anyCaller returns the context of a caller that was not authenticated.
func anyCaller(t *testing.T) context.Context {
	return auth.WithCaller(t.Context(), auth.AnonymousCaller())
}

// limited are quotas that nothing remembers.
func limited(t *testing.T, cfg quota.Config) *quota.Quotas {
	t.Helper()
	quotas, err := quota.Open(cfg, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return quotas
}

// film asks the scripted question by a method, over wikidata.
func film(method string) *orchestratorv1.AskRequest {
	return &orchestratorv1.AskRequest{Question: stagetest.Film, Method: method,
		Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata"}}
}

func rivers() *orchestratorv1.AskRequest { return riversBy("ger") }

func riversBy(method string) *orchestratorv1.AskRequest {
	req := film(method)
	req.Question = stagetest.Rivers
	return req
}
