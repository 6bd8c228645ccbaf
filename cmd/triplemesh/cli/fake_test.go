package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// services answer what the test says and keep what they were asked.
type services struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	retrieverv1.UnimplementedKnowledgeGraphServiceServer

	addr string

	run *orchestratorv1.Run
	err error
	// runs, where set, are the answers by method; the others fail.
	runs map[string]*orchestratorv1.Run
	// version is the mesh's; one without is too old to tell.
	version string
	// onAsk is called for each question without a stream; nil for nobody.
	onAsk func()
	// check answers checks; nil for none.
	check *checks
	// links are the entities that any text is linked to; nil links nothing.
	links []string
	// searchErr is what becomes of a search.
	searchErr error
	kgs       []*retrieverv1.SnapshotInfo

	mu       sync.Mutex
	asked    *orchestratorv1.AskRequest
	header   *retrieverv1.LoadHeader
	files    map[string]string
	columns  *retrieverv1.Columns
	imported *retrieverv1.ImportHeader
	diffed   *retrieverv1.DiffRequest
	dropped,
	activated *graphv1.KnowledgeGraphRef
}

func serve(t *testing.T, s *services) *services {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr, s.files = l.Addr().String(), map[string]string{}
	server := grpc.NewServer()
	orchestratorv1.RegisterOrchestratorServiceServer(server, s)
	retrieverv1.RegisterKnowledgeGraphServiceServer(server, s)
	s.registerRetriever(server)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-ended })
	return s
}

func (s *services) AskStream(req *orchestratorv1.AskStreamRequest, stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	s.mu.Lock()
	s.asked = req.GetRequest()
	s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if method := req.GetRequest().GetMethod(); s.runs[method] != nil {
		return stream.Send(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_Run{Run: s.runs[method]}})
	} else if s.runs != nil {
		return status.Error(codes.Unavailable, "the model server is down")
	}
	for _, e := range []*orchestratorv1.AskStreamResponse{
		{Event: &orchestratorv1.AskStreamResponse_StageStarted{StageStarted: &orchestratorv1.StageStarted{Stage: orchestratorv1.Stage_STAGE_ANSWER}}},
		{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{AnswerDelta: "{"}},
		{Event: &orchestratorv1.AskStreamResponse_StageFinished{StageFinished: &orchestratorv1.StageFinished{
			Report: &orchestratorv1.StageReport{Stage: orchestratorv1.Stage_STAGE_VERIFY}, Run: s.run,
		}}},
		{Event: &orchestratorv1.AskStreamResponse_Run{Run: s.run}},
	} {
		if err := stream.Send(e); err != nil {
			return err
		}
	}
	return nil
}

func (s *services) CheckStream(req *orchestratorv1.CheckStreamRequest, stream grpc.ServerStreamingServer[orchestratorv1.CheckStreamResponse]) error {
	return s.check.CheckStream(req, stream)
}

func (s *services) ListMethods(context.Context, *orchestratorv1.ListMethodsRequest) (*orchestratorv1.ListMethodsResponse, error) {
	return &orchestratorv1.ListMethodsResponse{Methods: []*orchestratorv1.Method{
		{Name: "io", Description: "Answers at once.", Calls: "1", Stages: []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_ANSWER}},
		{Name: "pg-akv", Description: "Grounds.", Calls: "2", NeedsKg: true, Ablations: []orchestratorv1.Ablation{
			orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH, orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH,
		}},
	}}, s.err
}

func (s *services) ListRuns(context.Context, *orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error) {
	resp := &orchestratorv1.ListRunsResponse{}
	if s.run != nil {
		resp.Runs = append(resp.Runs, s.run)
	}
	return resp, s.err
}

func (s *services) GetRun(context.Context, *orchestratorv1.GetRunRequest) (*orchestratorv1.GetRunResponse, error) {
	return &orchestratorv1.GetRunResponse{Run: s.run}, s.err
}

func (s *services) List(_ context.Context, req *retrieverv1.ListRequest) (*retrieverv1.ListResponse, error) {
	resp := &retrieverv1.ListResponse{}
	for _, k := range s.kgs {
		if req.GetKg() == "" || req.GetKg() == k.GetKg().GetName() {
			resp.Snapshots = append(resp.Snapshots, k)
		}
	}
	if req.GetKg() != "" && len(resp.GetSnapshots()) == 0 {
		return nil, status.Errorf(codes.NotFound, "list knowledge graph %q: not found", req.GetKg())
	}
	return resp, nil
}

func (s *services) LoadStream(stream grpc.BidiStreamingServer[retrieverv1.LoadStreamRequest, retrieverv1.LoadStreamResponse]) error {
	if s.err != nil {
		return s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	file := ""
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			for _, phase := range []retrieverv1.LoadPhase{retrieverv1.LoadPhase_LOAD_PHASE_READ, retrieverv1.LoadPhase_LOAD_PHASE_ENCODE} {
				progress := &retrieverv1.LoadProgress{Phase: phase, Done: 1, Total: 3}
				if err := stream.Send(&retrieverv1.LoadStreamResponse{Event: &retrieverv1.LoadStreamResponse_Progress{Progress: progress}}); err != nil {
					return err
				}
			}
			return stream.Send(&retrieverv1.LoadStreamResponse{Event: &retrieverv1.LoadStreamResponse_Result{Result: &retrieverv1.LoadResponse{
				Snapshot: snapshot(s.header.GetKg(), 7, true), Lines: 3, BadLines: 3,
				Errors: []*retrieverv1.LineError{
					{File: "a.tsv", Line: 2, Message: "one column \x1b[2J where three are due"},
					{File: "b.json", Byte: 77, Message: "no entity"},
				},
			}}})
		}
		if err != nil {
			return err
		}
		switch part := req.GetRequest().GetPart().(type) {
		case *retrieverv1.LoadRequest_Header:
			s.header = part.Header
		case *retrieverv1.LoadRequest_File:
			file = part.File.GetName() + " " + part.File.GetFormat().String()
			s.files[file], s.columns = "", part.File.GetColumns()
		case *retrieverv1.LoadRequest_Chunk:
			s.files[file] += string(part.Chunk)
		}
	}
}

func (s *services) Compact(_ context.Context, req *retrieverv1.CompactRequest) (*retrieverv1.CompactResponse, error) {
	return &retrieverv1.CompactResponse{Snapshot: snapshot(req.GetKg().GetName(), 9, true)}, s.err
}

func (s *services) Diff(req *retrieverv1.DiffRequest, stream grpc.ServerStreamingServer[retrieverv1.DiffResponse]) error {
	s.diffed = req
	triple := func(object string) *graphv1.Triple {
		return &graphv1.Triple{Subject: "Ada", Relation: "knows", Object: object, Validity: &graphv1.ValidityInterval{Start: "1833"}}
	}
	return stream.Send(&retrieverv1.DiffResponse{Differences: []*retrieverv1.Difference{
		{Triple: triple("Charles"), Added: true}, {Triple: triple("Bob\x1b[2J")},
	}})
}

func (s *services) Export(_ *retrieverv1.ExportRequest, stream grpc.ServerStreamingServer[retrieverv1.ExportResponse]) error {
	for _, part := range []string{"a who", "le file"} {
		if err := stream.Send(&retrieverv1.ExportResponse{Chunk: []byte(part)}); err != nil {
			return err
		}
	}
	return s.err
}

func (s *services) Import(stream grpc.ClientStreamingServer[retrieverv1.ImportRequest, retrieverv1.ImportResponse]) error {
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			if s.err != nil {
				return s.err
			}
			return stream.SendAndClose(&retrieverv1.ImportResponse{Snapshot: snapshot("mars", 8, true)})
		}
		if err != nil {
			return err
		}
		if h := req.GetHeader(); h != nil {
			s.imported = h
		}
		s.files["import"] += string(req.GetChunk())
	}
}

func (s *services) Drop(_ context.Context, req *retrieverv1.DropRequest) (*retrieverv1.DropResponse, error) {
	s.dropped = req.GetKg()
	return &retrieverv1.DropResponse{Dropped: []*graphv1.KnowledgeGraphRef{{Name: req.GetKg().GetName(), Snapshot: 1}}}, s.err
}

func (s *services) Activate(_ context.Context, req *retrieverv1.ActivateRequest) (*retrieverv1.ActivateResponse, error) {
	s.activated = req.GetKg()
	return &retrieverv1.ActivateResponse{Snapshot: &retrieverv1.SnapshotInfo{Kg: req.GetKg()}}, s.err
}

func (s *services) Rollback(_ context.Context, req *retrieverv1.RollbackRequest) (*retrieverv1.RollbackResponse, error) {
	return &retrieverv1.RollbackResponse{Snapshot: snapshot(req.GetKg(), 1, true)}, s.err
}

func (s *services) Verify(_ context.Context, req *retrieverv1.VerifyRequest) (*retrieverv1.VerifyResponse, error) {
	return &retrieverv1.VerifyResponse{Snapshot: snapshot(req.GetKg().GetName(), 1, true), Bytes: 2_500_000}, s.err
}

func snapshot(name string, n uint64, active bool) *retrieverv1.SnapshotInfo {
	return &retrieverv1.SnapshotInfo{Kg: &graphv1.KnowledgeGraphRef{Name: name, Snapshot: n}, Triples: 3, Entities: 4, Relations: 2,
		Bytes: 1_500_000, Encoder: "tiny", Created: timestamppb.Now(), Active: active}
}

func answered() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Id: "01RUN", Question: "Who?", Method: "pg-akv", Text: "It is {Ada}.",
		Answers:   []*orchestratorv1.Answer{{Answer: "Ada"}},
		Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED, GroundingReason: "a triple says so",
		Graphs:  &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{}},
		Spans:   []*orchestratorv1.Span{{SpanId: "1", Service: "orchestrator", Name: "Ask"}},
		Started: timestamppb.Now(),
	}
}

// outcome is what a command line left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

// triplemesh runs a command line in this process, in folders of its own.
func triplemesh(t *testing.T, env []string, stdin string, args ...string) outcome {
	t.Helper()
	return triplemeshIn(t, t.Context(), env, stdin, args...)
}

func triplemeshIn(t *testing.T, ctx context.Context, env []string, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	dirs := []string{"--cache", t.TempDir(), "--data", t.TempDir()}
	code := run(ctx, "v1", append(dirs, args...), env, strings.NewReader(stdin), &out, &errs)
	return outcome{code, out.String(), errs.String()}
}

// says fails unless the output holds every text.
func (o outcome) says(t *testing.T, code int, texts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", o.code, code, o.stdout, o.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(o.stdout+o.stderr, text) {
			t.Errorf("it does not say %q\nstdout: %s\nstderr: %s", text, o.stdout, o.stderr)
		}
	}
	if strings.Contains(o.stdout+o.stderr, "\x1b") {
		t.Error("control characters reach the terminal")
	}
}
