package cli

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// rivers is a retriever that knows one river and one twinned city.
type rivers struct {
	retrieverv1.UnimplementedRetrieverServiceServer
}

var (
	riverPath = &graphv1.ReasoningPath{Entities: []string{"Velmora", "Tessen"},
		Steps: []*graphv1.RelationStep{{Relation: "body of water"}}}
	twinPath = &graphv1.ReasoningPath{Entities: []string{"Velmora", "Harn"},
		Steps: []*graphv1.RelationStep{{Relation: "twinned city"}}}
)

func (rivers) FindShortestPaths(_ context.Context,
	req *retrieverv1.FindShortestPathsRequest) (*retrieverv1.FindShortestPathsResponse, error) {
	resp := &retrieverv1.FindShortestPathsResponse{Kg: &graphv1.KnowledgeGraphRef{Name: req.GetKg().GetName(),
		Snapshot: 3}}
	if req.GetTo()[0] == "Tessen" {
		resp.Paths = append(resp.Paths, riverPath)
	}
	return resp, nil
}

func (rivers) SuggestPaths(context.Context,
	*retrieverv1.SuggestPathsRequest) (*retrieverv1.SuggestPathsResponse, error) {
	return &retrieverv1.SuggestPathsResponse{Paths: []*graphv1.RelationPath{{Steps: twinPath.GetSteps()}}}, nil
}

func (rivers) FollowPaths(context.Context, *retrieverv1.FollowPathsRequest) (*retrieverv1.FollowPathsResponse, error) {
	return &retrieverv1.FollowPathsResponse{Paths: []*graphv1.ReasoningPath{riverPath, twinPath}}, nil
}

func serveRivers(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	retrieverv1.RegisterRetrieverServiceServer(server, rivers{})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-ended })
	return l.Addr().String()
}

func TestExportSFT(t *testing.T) {
	addr, dir := serveRivers(t), t.TempDir()
	train, test, out := filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "test.jsonl"),
		filepath.Join(dir, "sft.jsonl")
	first := `{"id": "q1", "question": "what rivers flow through velmora", "answers": ["Tessen"], ` +
		`"topic_entities": ["Velmora"]}` + "\n"
	second := `{"id": "q2", "question": "who is the mayor of velmora", "answers": ["Reik"], ` +
		`"topic_entities": ["Velmora"]}` + "\n"
	for file, text := range map[string]string{train: first + second, test: second} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"export", "sft", "--questions", train, "--kg", "mars", "--retriever", addr, "--part", "all",
		"--out", out}
	written := func() string {
		text, err := os.ReadFile(out)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}

	triplemesh(t, nil, "", append(args, "--not-in", test)...).Expect(t, ExitFailed,
		"1 of the questions are in a test set", "q2", "--drop-leaked")
	if written() != "" {
		t.Error("examples were written although a question leaks")
	}
	triplemesh(t, nil, "", append(args, "--not-in", test, "--drop-leaked")...).Expect(t, ExitOK,
		"1 question over mars@3", "Dropped, being in a test set: 1")
	if text := written(); strings.Count(text, "\n") != 8 || !strings.Contains(text, `<PATH> body of water </PATH>`) ||
		strings.Contains(text, "q2") {
		t.Errorf("wrote %s", text)
	}
	triplemesh(t, nil, "", args...).Expect(t, ExitUsage, "--force")
	triplemesh(t, nil, "", append(args, "--force", "--json")...).Expect(t, ExitOK, `"unreachable": 1`,
		`"evaluate-answer"`)
	triplemesh(t, nil, "", append(args[:10:10], "--task", "evaluate-answer", "--set",
		"evaluator.verdict.max_paths=0")...).Expect(t, ExitUsage, "verdict must be at least 1")
	triplemesh(t, nil, "", append(args[:10:10], "--task", "evaluate-answer")...).Expect(t, ExitOK,
		`Is \"Harn\" a right answer?`, "export: 50 %, 1 of 2 questions")
	triplemesh(t, nil, "", append(args[:10:10], "--task", "guess")...).Expect(t, ExitUsage, "relation-paths")
	triplemesh(t, nil, "", "export", "sft", "--questions", train, "--part", "all", "--kg", "mars", "--retriever",
		testkit.FreeAddr(t)).Expect(t, exitUnreachable, "no retriever")
}
