package mesh

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestAMeshWithAFileOfTokensKnowsItsOwnStages(t *testing.T) {
	token := auth.NewToken()
	tokens, err := auth.Tokens{Tokens: []auth.Token{{Name: "ci", Tenant: "acme", Scopes: []string{"ask"},
		SHA256: auth.Hash(token)}}}.Format()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, audit := filepath.Join(dir, "tokens.yaml"), filepath.Join(dir, "audit.jsonl")
	if err := os.WriteFile(file, tokens, 0o600); err != nil {
		t.Fatal(err)
	}
	model := testkit.NewLLM(t)
	model.On(testkit.Contains("Who wrote the first program?")).Reply("{Ada Lovelace}")
	o := options(t, map[string]string{
		"llm.base_url": model.URL(), "llm.cache.dir": dir, "server.auth.tokens_file": file, "server.audit.file": audit,
	})
	o.Targets = []string{"orchestrator", "generator"}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, ended := runMesh(ctx, m)
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("the mesh ended: %v", err)
	}
	dial := func(name string) *grpc.ClientConn {
		conn, err := grpc.NewClient("passthrough:///"+m.Addr(name),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	known := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	ask := &orchestratorv1.AskRequest{Question: "Who wrote the first program?", Method: "io"}
	orchestrator := orchestratorv1.NewOrchestratorServiceClient(dial("orchestrator"))
	if _, err := orchestrator.Ask(ctx, ask); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token: got %v", err)
	}
	resp, err := orchestrator.Ask(known, ask)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.GetRun().GetAnswers(); len(got) != 1 || got[0].GetAnswer() != "Ada Lovelace" {
		t.Errorf("got %v", got)
	}
	// The stages behind it are for the mesh alone.
	generator := generatorv1.NewGeneratorServiceClient(dial("generator"))
	if _, err := generator.GenerateAnswer(known,
		&generatorv1.GenerateAnswerRequest{}); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a caller at a stage: got %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the mesh ended with: %v", err)
	}
	lines, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"code":"UNAUTHENTICATED"`, `"subject":"ci"`, `"service":"generator"`, `"run":"`} {
		if !bytes.Contains(lines, []byte(want)) {
			t.Errorf("the audit log lacks %s:\n%s", want, lines)
		}
	}
	if strings.Contains(string(lines), "first program") || bytes.Contains(lines, []byte(token)) {
		t.Errorf("the audit log has the question or the token:\n%s", lines)
	}
}
