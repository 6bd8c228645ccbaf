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
	"github.com/triplemesh/triplemesh/internal/tenant"
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
	return &orchestratorv1.Run{Id: "01RUN", Question: req.GetQuestion(), Kg: &graphv1.KnowledgeGraphRef{Name: "mars", Snapshot: 3}}
}

func (world) Ask(_ context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	return &orchestratorv1.AskResponse{Run: run(req)}, nil
}

func (world) AskStream(req *orchestratorv1.AskStreamRequest, stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	for range 3 {
		if err := stream.Send(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{AnswerDelta: "…"}}); err != nil {
			return err
		}
	}
	return stream.Send(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_Run{Run: run(req.GetRequest())}})
}

func (world) ListMethods(context.Context, *orchestratorv1.ListMethodsRequest) (*orchestratorv1.ListMethodsResponse, error) {
	return &orchestratorv1.ListMethodsResponse{}, nil
}

func (world) GetRun(context.Context, *orchestratorv1.GetRunRequest) (*orchestratorv1.GetRunResponse, error) {
	return nil, status.Error(codes.NotFound, "no such run")
}

func (world) Drop(_ context.Context, req *retrieverv1.DropRequest) (*retrieverv1.DropResponse, error) {
	if req.GetKg().GetName() != "mars" {
		return nil, status.Error(codes.NotFound, "no such knowledge graph")
	}
	return &retrieverv1.DropResponse{}, nil
}

func (world) Rollback(_ context.Context, req *retrieverv1.RollbackRequest) (*retrieverv1.RollbackResponse, error) {
	return &retrieverv1.RollbackResponse{Snapshot: &retrieverv1.SnapshotInfo{Kg: &graphv1.KnowledgeGraphRef{Name: req.GetKg(), Snapshot: 2}}}, nil
}

func (world) Load(stream grpc.ClientStreamingServer[retrieverv1.LoadRequest, retrieverv1.LoadResponse]) error {
	for range 2 {
		if _, err := stream.Recv(); err != nil {
			return err
		}
	}
	return stream.SendAndClose(&retrieverv1.LoadResponse{Snapshot: &retrieverv1.SnapshotInfo{Kg: &graphv1.KnowledgeGraphRef{Name: "mars", Snapshot: 4}}})
}

func (world) Export(_ *retrieverv1.ExportRequest, stream grpc.ServerStreamingServer[retrieverv1.ExportResponse]) error {
	return stream.Send(&retrieverv1.ExportResponse{Chunk: []byte("all of it")})
}

func (world) Diff(*retrieverv1.DiffRequest, grpc.ServerStreamingServer[retrieverv1.DiffResponse]) error {
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
	k := known(t)
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	r := start(t, "orchestrator", world{}.register, k.on, func(cfg *server.Config) { cfg.Audit.File = path })
	questions, graphs := orchestratorv1.NewOrchestratorServiceClient(r.conn), retrieverv1.NewKnowledgeGraphServiceClient(r.conn)
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
		}, &line{Tenant: "acme", Subject: "ana", Method: "AskStream", KG: "mars", Snapshot: 3, Run: "01RUN", Code: "OK"}},
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
		}, &line{Tenant: "acme", Subject: "ana", Method: "GetRun", Run: "01OTHER", Code: "NOT_FOUND", Reason: "NOT_FOUND"}},
		{"a load", k.admin, func(ctx context.Context) error {
			stream, err := graphs.Load(ctx)
			if err != nil {
				return err
			}
			for _, req := range []*retrieverv1.LoadRequest{
				{Part: &retrieverv1.LoadRequest_Header{Header: &retrieverv1.LoadHeader{Kg: "mars"}}},
				{Part: &retrieverv1.LoadRequest_File{File: &retrieverv1.FileHeader{Name: "a.tsv", Format: retrieverv1.Format_FORMAT_TSV}}},
			} {
				if err := stream.Send(req); err != nil {
					return err
				}
			}
			_, err = stream.CloseAndRecv()
			return err
		}, &line{Tenant: "acme", Subject: "eve", Method: "Load", KG: "mars", Snapshot: 4, Code: "OK"}},
		{"a rollback", k.admin, func(ctx context.Context) error {
			_, err := graphs.Rollback(ctx, &retrieverv1.RollbackRequest{Kg: "mars"})
			return err
		}, &line{Tenant: "acme", Subject: "eve", Method: "Rollback", KG: "mars", Snapshot: 2, Code: "OK"}},
		{"a drop for somebody, by a stage", meshSecret, func(ctx context.Context) error {
			globex, err := tenant.Parse("globex")
			if err != nil {
				return err
			}
			ctx = auth.With(with(ctx, meshSecret), auth.Caller{Tenant: globex, Subject: "zoe"})
			_, err = graphs.Drop(ctx, &retrieverv1.DropRequest{Kg: mars})
			return err
		}, &line{Tenant: "globex", Subject: "zoe", Via: "mesh", Method: "Drop", KG: "mars", Snapshot: 3, Code: "OK"}},
		{"a drop of another's", k.admin, func(ctx context.Context) error {
			_, err := graphs.Drop(ctx, &retrieverv1.DropRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "venus"}})
			return err
		}, &line{Tenant: "acme", Subject: "eve", Method: "Drop", KG: "venus", Code: "NOT_FOUND", Reason: "NOT_FOUND"}},
		{"a drop without the scope", k.asker, func(ctx context.Context) error {
			_, err := graphs.Drop(ctx, &retrieverv1.DropRequest{Kg: mars})
			return err
		}, &line{Tenant: "acme", Subject: "ana", Method: "Drop", KG: "mars", Snapshot: 3, Code: "PERMISSION_DENIED", Reason: auth.ScopeMissing}},
		{"a drop by nobody", "made-up", func(ctx context.Context) error {
			_, err := graphs.Drop(ctx, &retrieverv1.DropRequest{Kg: mars})
			return err
		}, &line{Method: "Drop", KG: "mars", Snapshot: 3, Code: "UNAUTHENTICATED", Reason: auth.TokenInvalid}},
		{"an export", k.reader, func(ctx context.Context) error {
			stream, err := graphs.Export(ctx, &retrieverv1.ExportRequest{Kg: mars})
			for err == nil {
				_, err = stream.Recv()
			}
			return nil
		}, &line{Tenant: "acme", Subject: "ben", Method: "Export", KG: "mars", Snapshot: 3, Code: "OK"}},
		{"a difference to what is another's", k.reader, func(ctx context.Context) error {
			stream, err := graphs.Diff(ctx, &retrieverv1.DiffRequest{Kg: mars, From: 1})
			for err == nil {
				_, err = stream.Recv()
			}
			return nil
		}, &line{Tenant: "acme", Subject: "ben", Method: "Diff", KG: "mars", Snapshot: 3, Code: "NOT_FOUND", Reason: "NOT_FOUND"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(lines(t, path))
			ctx := telemetry.WithRequestID(t.Context(), "the-request")
			if c.token != "" && c.token != meshSecret {
				ctx = with(ctx, c.token)
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
			if l.ID != "the-request" || len(l.TraceID) != 32 || l.Service != "orchestrator" || !strings.HasPrefix(l.Peer, "127.0.0.1:") || time.Since(l.Time) > time.Minute {
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
	k := known(t)
	for name, c := range map[string]struct {
		set  func(*server.Config)
		ctx  context.Context
		want int
	}{
		"where callers are asked who they are": {k.on, with(t.Context(), k.asker), 1},
		"and nowhere else":                     {func(*server.Config) {}, t.Context(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "orchestrator", world{}.register, c.set)
			if _, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).Ask(c.ctx, &orchestratorv1.AskRequest{Question: question}); err != nil {
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
	k := known(t)
	r := start(t, "orchestrator", world{}.register, k.on, func(cfg *server.Config) { cfg.Audit.File = full })
	if _, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).Ask(with(t.Context(), k.asker), &orchestratorv1.AskRequest{Question: question}); err != nil {
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
