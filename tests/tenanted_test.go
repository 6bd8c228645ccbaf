package tests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// eachMethod calls a function with every method of the protos and its stage; methods that the
// orchestrator forwards come a second time with the orchestrator as stage.
func eachMethod(do func(m protoreflect.MethodDescriptor, stage string, scope authv1.Scope)) {
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		stage, ours := strings.CutPrefix(string(f.Package()), "triplemesh.")
		for i := range f.Services().Len() {
			methods := f.Services().Get(i).Methods()
			for j := range methods.Len() {
				if m := methods.Get(j); ours {
					scope, _ := proto.GetExtension(m.Options(), authv1.E_Scope).(authv1.Scope)
					do(m, strings.TrimSuffix(stage, ".v1"), scope)
					if f.Package() == "triplemesh.retriever.v1" {
						do(m, "orchestrator", scope)
					}
				}
			}
		}
		return true
	})
}

// between separates the messages of a stream.
const between = "\n---\n"

// call sends a request in text format to any method and returns all responses.
func call(ctx context.Context, conn *grpc.ClientConn, m protoreflect.MethodDescriptor,
	request string) (answers []proto.Message, err error) {
	name := fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, name)
	if err != nil {
		return nil, err
	}
	for text := range strings.SplitSeq(request, between) {
		message := dynamicpb.NewMessage(m.Input())
		if err := prototext.Unmarshal([]byte(text), message); err != nil {
			return nil, fmt.Errorf("the request %s of the test: %w", text, err)
		}
		if err := stream.SendMsg(message); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	for {
		answer := dynamicpb.NewMessage(m.Output())
		if err := stream.RecvMsg(answer); errors.Is(err, io.EOF) {
			return answers, nil
		} else if err != nil {
			return answers, err
		}
		answers = append(answers, answer)
	}
}

// tenanted is a mesh that authenticates callers.
type tenanted struct {
	*running
	conns map[string]*grpc.ClientConn
	audit string
	// Tokens of one user of each tenant, with all of a tenant's permissions.
	acme, globex string
}

// startTenanted starts a mesh with two tenants, which have no knowledge graphs.
func startTenanted(t *testing.T, o options) tenanted {
	t.Helper()
	dir := t.TempDir()
	m := tenanted{conns: map[string]*grpc.ClientConn{}, audit: filepath.Join(dir, "audit.jsonl"), acme: auth.NewToken(),
		globex: auth.NewToken()}
	scopes := []string{"ask", "kg:read", "kg:write"}
	tokens, err := auth.Tokens{Tokens: []auth.Token{
		{Name: "lovelace", Tenant: "acme", Scopes: scopes, SHA256: auth.Hash(m.acme)},
		{Name: "gus", Tenant: "globex", Scopes: scopes, SHA256: auth.Hash(m.globex)},
	}}.Format()
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{
		"server.auth.tokens_file": filepath.Join(dir, "tokens.yaml"), "server.auth.mesh_token_file": filepath.Join(dir,
			"mesh-token"),
		"server.audit.file": m.audit, "llm.cache.memory_entries": "64",
	}
	maps.Copy(set, o.set)
	o.set = set
	for name, data := range map[string][]byte{"tokens.yaml": tokens, "mesh-token": []byte(auth.NewToken() + "\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.running = start(t, o)
	for _, stage := range []string{"generator", "retriever", "verifier", "evaluator", "reflector", "orchestrator"} {
		m.conns[stage] = m.dial(t, stage)
	}
	return m
}

func bearing(t *testing.T, token string) context.Context {
	return metadata.AppendToOutgoingContext(timeoutContext(t, patience), "authorization", "Bearer "+token)
}

// The tenants' knowledge graphs. plans is acme's, with two snapshots.
const (
	plans   = "plans"
	ledgers = "ledgers"
	mine    = "mine"
)

func (m tenanted) load(t *testing.T, token, kg, facts string) {
	t.Helper()
	if _, err := testkit.LoadTSV(bearing(t, token), m.graphs, kg, []byte(facts), false); err != nil {
		t.Fatalf("load %s: %v", kg, err)
	}
}

func (m tenanted) mustAsk(t *testing.T, token, kg string) *orchestratorv1.Run {
	t.Helper()
	resp, err := m.orchestrator.Ask(bearing(t, token), &orchestratorv1.AskRequest{Question: employerQuestion,
		Method: "pg-akv", Kg: &graphv1.KnowledgeGraphRef{Name: kg}})
	if err != nil {
		t.Fatalf("ask over %s: %v", kg, err)
	}
	return resp.GetRun()
}

// has describes everything that a tenant owns.
func (m tenanted) has(t *testing.T, token string) string {
	t.Helper()
	listed, err := m.graphs.ListKnowledgeGraphs(bearing(t, token), &retrieverv1.ListKnowledgeGraphsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := m.orchestrator.ListRuns(bearing(t, token), &orchestratorv1.ListRunsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintln(len(runs.GetRuns()), "runs")
	for _, s := range listed.GetSnapshots() {
		all += fmt.Sprintln(s.GetKg().GetName(), s.GetKg().GetSnapshot(), s.GetTriples(), s.GetActive(),
			s.GetCreateTime().AsTime())
	}
	return all
}
