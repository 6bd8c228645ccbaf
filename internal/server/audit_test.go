package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const question = "who may know this question?"

// world answers as the orchestrator and the retriever do, over the knowledge
// graph mars alone.
type world struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	retrieverv1.UnimplementedKnowledgeGraphServiceServer
}

func (world) register(s grpc.ServiceRegistrar) {
	orchestratorv1.RegisterOrchestratorServiceServer(s, world{})
	retrieverv1.RegisterKnowledgeGraphServiceServer(s, world{})
}

func run(req *orchestratorv1.AskRequest) *orchestratorv1.Run {
	return &orchestratorv1.Run{Id: "01RUN", Question: req.GetQuestion(), Kg: &graphv1.KnowledgeGraphRef{Name: "mars",
		Snapshot: 3}}
}

func (world) Ask(_ context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	return &orchestratorv1.AskResponse{Run: run(req)}, nil
}

func (world) AskStream(req *orchestratorv1.AskStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	for range 3 {
		if err := stream.Send(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{
			AnswerDelta: "…"}}); err != nil {
			return err
		}
	}
	return stream.Send(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_Run{
		Run: run(req.GetRequest())}})
}

func (world) ListMethods(context.Context,
	*orchestratorv1.ListMethodsRequest) (*orchestratorv1.ListMethodsResponse, error) {
	return &orchestratorv1.ListMethodsResponse{}, nil
}

func (world) GetRun(context.Context, *orchestratorv1.GetRunRequest) (*orchestratorv1.GetRunResponse, error) {
	return nil, status.Error(codes.NotFound, "no such run")
}

func (world) DropKnowledgeGraph(_ context.Context,
	req *retrieverv1.DropKnowledgeGraphRequest) (*retrieverv1.DropKnowledgeGraphResponse, error) {
	if req.GetKg().GetName() != "mars" {
		return nil, status.Error(codes.NotFound, "no such knowledge graph")
	}
	return &retrieverv1.DropKnowledgeGraphResponse{}, nil
}

func (world) RollbackKnowledgeGraph(_ context.Context,
	req *retrieverv1.RollbackKnowledgeGraphRequest) (*retrieverv1.RollbackKnowledgeGraphResponse, error) {
	return &retrieverv1.RollbackKnowledgeGraphResponse{Snapshot: &retrieverv1.SnapshotInfo{
		Kg: &graphv1.KnowledgeGraphRef{
			Name: req.GetKg().GetName(), Snapshot: 2}}}, nil
}

func (world) LoadKnowledgeGraph(stream grpc.ClientStreamingServer[retrieverv1.LoadKnowledgeGraphRequest,
	retrieverv1.LoadKnowledgeGraphResponse]) error {
	for range 2 {
		if _, err := stream.Recv(); err != nil {
			return err
		}
	}
	return stream.SendAndClose(&retrieverv1.LoadKnowledgeGraphResponse{Snapshot: &retrieverv1.SnapshotInfo{
		Kg: &graphv1.KnowledgeGraphRef{Name: "mars", Snapshot: 4}}})
}

func (world) ExportSnapshot(_ *retrieverv1.ExportSnapshotRequest,
	stream grpc.ServerStreamingServer[retrieverv1.ExportSnapshotResponse]) error {
	return stream.Send(&retrieverv1.ExportSnapshotResponse{Chunk: []byte("all of it")})
}

func (world) DiffSnapshots(*retrieverv1.DiffSnapshotsRequest,
	grpc.ServerStreamingServer[retrieverv1.DiffSnapshotsResponse]) error {
	return status.Error(codes.NotFound, "no such snapshot")
}

// line is a line of the audit log as a reader of the file sees it.
type line struct {
	Time                                                                          time.Time
	Service, Tenant, Subject, Via, Method, KG, Run, Code, Reason, RequestID, Peer string
	Snapshot                                                                      uint64
	LeftOut                                                                       int64  `json:"left_out"`
	ID                                                                            string `json:"request_id"`
	TraceID                                                                       string `json:"trace_id"`
}

func lines(t testing.TB, path string) []line {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte(question)) {
		t.Errorf("a question is in the audit log:\n%s", data)
	}
	var all []line
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, in.Text())
		}
		all = append(all, l)
	}
	return all
}

func TestWhoDidWhatIsWrittenDown(t *testing.T) {
	k := newKeepers(t)
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	r := start(t, "orchestrator", world{}.register, k.enable, func(cfg *server.Config) { cfg.Audit.File = path })
	questions, graphs := orchestratorv1.NewOrchestratorServiceClient(r.conn),
		retrieverv1.NewKnowledgeGraphServiceClient(r.conn)
	mars := &graphv1.KnowledgeGraphRef{Name: "mars", Snapshot: 3}
	ask := &orchestratorv1.AskRequest{Question: question}
	for _, c := range []struct {
		name  string
		token string
		call  func(context.Context) error
		want  *line // nil for none
	}{
		{"a question", k.asker, func(ctx context.Context) error { _, err := questions.Ask(ctx, ask); return err },
			&line{Tenant: "acme", Subject: "ana", Method: "Ask", KG: "mars", Snapshot: 3, Run: "01RUN", Code: "OK"}},
		{"a question that is answered in pieces", k.asker, func(ctx context.Context) error {
			stream, err := questions.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: ask})
			for err == nil {
				_, err = stream.Recv()
			}
			return nil
		}, &line{Tenant: "acme", Subject: "ana", Method: "AskStream", KG: "mars", Snapshot: 3,
			Run: "01RUN", Code: "OK"}},
		{"a question that is not valid", k.asker, func(ctx context.Context) error {
			_, err := questions.Ask(ctx, &orchestratorv1.AskRequest{})
			return err
		}, &line{Tenant: "acme", Subject: "ana", Method: "Ask", Code: "INVALID_ARGUMENT", Reason: "INVALID_REQUEST"}},
		{"a look at the methods is nothing", k.asker, func(ctx context.Context) error {
			_, err := questions.ListMethods(ctx, &orchestratorv1.ListMethodsRequest{})
			return err
		}, nil},
		{"nor is health", "", func(ctx context.Context) error {
			_, err := healthpb.NewHealthClient(r.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: "nobody's"})
			return err
		}, nil},
		{"a look at another's run", k.asker, func(ctx context.Context) error {
			_, err := questions.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: "01OTHER"})
			return err
		}, &line{Tenant: "acme", Subject: "ana", Method: "GetRun", Run: "01OTHER", Code: "NOT_FOUND",
			Reason: "NOT_FOUND"}},
		{"a load", k.admin, func(ctx context.Context) error {
			stream, err := graphs.LoadKnowledgeGraph(ctx)
			if err != nil {
				return err
			}
			for _, req := range []*retrieverv1.LoadKnowledgeGraphRequest{
				{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{Header: &retrieverv1.LoadHeader{
					Kg: &graphv1.KnowledgeGraphRef{Name: "mars"}}}},
				{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{File: &retrieverv1.FileHeader{Name: "a.tsv",
					Format: retrieverv1.Format_FORMAT_TSV}}},
			} {
				if err := stream.Send(req); err != nil {
					return err
				}
			}
			_, err = stream.CloseAndRecv()
			return err
		}, &line{Tenant: "acme", Subject: "eve", Method: "LoadKnowledgeGraph", KG: "mars", Snapshot: 4, Code: "OK"}},
		{"a rollback", k.admin, func(ctx context.Context) error {
			_, err := graphs.RollbackKnowledgeGraph(ctx,
				&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "mars"}})
			return err
		}, &line{Tenant: "acme", Subject: "eve", Method: "RollbackKnowledgeGraph", KG: "mars",
			Snapshot: 2, Code: "OK"}},
		{"a drop for somebody, by a stage", meshSecret, func(ctx context.Context) error {
			globex, err := auth.ParseTenant("globex")
			if err != nil {
				return err
			}
			ctx = auth.WithCaller(withToken(ctx, meshSecret), auth.Caller{Tenant: globex, Subject: "zoe"})
			_, err = graphs.DropKnowledgeGraph(ctx, &retrieverv1.DropKnowledgeGraphRequest{Kg: mars})
			return err
		}, &line{Tenant: "globex", Subject: "zoe", Via: "mesh", Method: "DropKnowledgeGraph", KG: "mars",
			Snapshot: 3, Code: "OK"}},
		{"a drop of another's", k.admin, func(ctx context.Context) error {
			_, err := graphs.DropKnowledgeGraph(ctx,
				&retrieverv1.DropKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "venus"}})
			return err
		}, &line{Tenant: "acme", Subject: "eve", Method: "DropKnowledgeGraph", KG: "venus", Code: "NOT_FOUND",
			Reason: "NOT_FOUND"}},
		{"a drop without the scope", k.asker, func(ctx context.Context) error {
			_, err := graphs.DropKnowledgeGraph(ctx, &retrieverv1.DropKnowledgeGraphRequest{Kg: mars})
			return err
		}, &line{Tenant: "acme", Subject: "ana", Method: "DropKnowledgeGraph", KG: "mars", Snapshot: 3,
			Code:   "PERMISSION_DENIED",
			Reason: "SCOPE_MISSING"}},
		{"a drop by nobody", "made-up", func(ctx context.Context) error {
			_, err := graphs.DropKnowledgeGraph(ctx, &retrieverv1.DropKnowledgeGraphRequest{Kg: mars})
			return err
		}, &line{Method: "DropKnowledgeGraph", Code: "UNAUTHENTICATED", Reason: "TOKEN_INVALID"}},
		{"an export", k.reader, func(ctx context.Context) error {
			stream, err := graphs.ExportSnapshot(ctx, &retrieverv1.ExportSnapshotRequest{Kg: mars})
			for err == nil {
				_, err = stream.Recv()
			}
			return nil
		}, &line{Tenant: "acme", Subject: "ben", Method: "ExportSnapshot", KG: "mars", Snapshot: 3, Code: "OK"}},
		{"a difference to what is another's", k.reader, func(ctx context.Context) error {
			stream, err := graphs.DiffSnapshots(ctx, &retrieverv1.DiffSnapshotsRequest{Kg: mars, From: 1})
			for err == nil {
				_, err = stream.Recv()
			}
			return nil
		}, &line{Tenant: "acme", Subject: "ben", Method: "DiffSnapshots", KG: "mars", Snapshot: 3, Code: "NOT_FOUND",
			Reason: "NOT_FOUND"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(lines(t, path))
			ctx := telemetry.WithRequestID(t.Context(), "the-request")
			if c.token != "" && c.token != meshSecret {
				ctx = withToken(ctx, c.token)
			}
			_ = c.call(ctx)
			// Nobody hears of an RPC's end before its line is written.
			got := lines(t, path)[before:]
			if c.want == nil {
				if len(got) > 0 {
					t.Errorf("got %+v, want none", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("got %d lines, want one: %+v", len(got), got)
			}
			l := got[0]
			if l.ID != "the-request" || len(l.TraceID) != 32 || l.Service != "orchestrator" ||
				!strings.HasPrefix(l.Peer, "127.0.0.1:") || time.Since(l.Time) > time.Minute {
				t.Errorf("got %+v", l)
			}
			l.Time, l.ID, l.TraceID, l.Service, l.Peer = time.Time{}, "", "", "", ""
			l.Method = l.Method[strings.LastIndex(l.Method, "/")+1:]
			if l != *c.want {
				t.Errorf("got  %+v\nwant %+v", l, *c.want)
			}
		})
	}
	for _, secret := range []string{k.asker, k.admin, "made-up"} {
		data, err := os.ReadFile(path)
		if err != nil || bytes.Contains(data, []byte(secret)) {
			t.Errorf("a token is in the audit log (%v)", err)
		}
	}
}

func TestTheServicesLogIsTheAuditLogByDefault(t *testing.T) {
	k := newKeepers(t)
	for name, c := range map[string]struct {
		set  func(*server.Config)
		ctx  context.Context
		want int
	}{
		"where callers are asked who they are": {k.enable, withToken(t.Context(), k.asker), 1},
		"and nowhere else":                     {func(*server.Config) {}, t.Context(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "orchestrator", world{}.register, c.set)
			if _, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).Ask(c.ctx,
				&orchestratorv1.AskRequest{Question: question}); err != nil {
				t.Fatal(err)
			}
			log := r.log.String()
			if n := strings.Count(log, `"audit":true`); n != c.want {
				t.Fatalf("%d lines, want %d:\n%s", n, c.want, log)
			}
			for _, want := range []string{`"tenant":"acme"`, `"run":"01RUN"`, `"snapshot":3`} {
				if c.want > 0 && !strings.Contains(log, want) {
					t.Errorf("it lacks %s:\n%s", want, log)
				}
			}
			if strings.Contains(log, question) {
				t.Error("the question is in the log")
			}
		})
	}
}

func TestAnAuditFileThatCannotBeWritten(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no", full, "to write to")
	}
	k := newKeepers(t)
	r := start(t, "orchestrator", world{}.register, k.enable, func(cfg *server.Config) { cfg.Audit.File = full })
	if _, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).Ask(withToken(t.Context(), k.asker),
		&orchestratorv1.AskRequest{Question: question}); err != nil {
		t.Fatalf("a full disk stops questions: %v", err)
	}
	log := r.log.String()
	if !strings.Contains(log, "no space left") || !strings.Contains(log, `"audit":true`) {
		t.Errorf("the log says neither that it failed nor what the line was:\n%s", log)
	}
	tel, _ := telemetryFor(t, "orchestrator")
	cfg := server.DefaultConfig("localhost:0")
	cfg.Audit.File = filepath.Join(t.TempDir(), "nowhere", "audit.jsonl")
	if _, err := server.New(cfg, tel); err == nil || !strings.Contains(err.Error(), "audit.file") {
		t.Errorf("a file that cannot be made: got %v", err)
	}
}
