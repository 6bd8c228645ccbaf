package cli

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// services answer what the test says and keep what they were asked.
type services struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	orchestratorv1.UnimplementedFeedbackServiceServer
	retrieverv1.UnimplementedKnowledgeGraphServiceServer

	addr string
	// starting makes the mesh report NOT_SERVING.
	starting bool

	run *orchestratorv1.Run
	err error
	// runs, where set, are the answers by method; the others fail.
	runs map[string]*orchestratorv1.Run
	// version is the mesh's; one without is too old to tell.
	version string
	// check answers checks; nil for none.
	check *checks
	// entities are the topic entities by name and id; nil looks none up.
	entities map[string]*graphv1.Entity
	// links are the entities that any text is linked to; nil links nothing.
	links []string
	// searchErr is the outcome of a search.
	searchErr error
	kgs       []*retrieverv1.SnapshotInfo

	mu       sync.Mutex
	feedback []*orchestratorv1.Feedback
	listed   *orchestratorv1.ListFeedbackRequest
	deleted  []string
	asked    *orchestratorv1.AskRequest
	header   *retrieverv1.LoadHeader
	files    map[string]string
	columns  *retrieverv1.Columns
	imported *retrieverv1.ImportHeader
	diffed   *retrieverv1.DiffSnapshotsRequest
	// retriever answers for it; nil for the one that the fields above describe.
	retriever retrieverv1.RetrieverServiceServer
	// rankers are listed; ranker is what was stored.
	rankers []*retrieverv1.RankerInfo
	ranker  []byte
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
	orchestratorv1.RegisterFeedbackServiceServer(server, s)
	retrieverv1.RegisterKnowledgeGraphServiceServer(server, s)
	s.registerRetriever(server)
	status := health.NewServer()
	if s.starting {
		status.SetServingStatus("", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	}
	grpc_health_v1.RegisterHealthServer(server, status)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-ended })
	return s
}

func (s *services) AskStream(req *orchestratorv1.AskStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	s.mu.Lock()
	s.asked = req.GetRequest()
	s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if method := req.GetRequest().GetMethod(); s.runs[method] != nil {
		return stream.Send(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_Run{
			Run: s.runs[method]}})
	} else if s.runs != nil {
		return status.Error(codes.Unavailable, "the model server is down")
	}
	for _, e := range []*orchestratorv1.AskStreamResponse{
		{Event: &orchestratorv1.AskStreamResponse_StageStarted{StageStarted: &orchestratorv1.StageStarted{
			Stage: orchestratorv1.Stage_STAGE_ANSWER}}},
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

func (s *services) CheckStream(req *orchestratorv1.CheckStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.CheckStreamResponse]) error {
	return s.check.CheckStream(req, stream)
}

func (s *services) ListMethods(context.Context,
	*orchestratorv1.ListMethodsRequest) (*orchestratorv1.ListMethodsResponse, error) {
	return &orchestratorv1.ListMethodsResponse{Methods: []*orchestratorv1.Method{
		{Name: "io", Description: "Answers at once.", Calls: "1",
			Stages: []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_ANSWER}},
		{Name: "pg-akv", Description: "Grounds.", Calls: "2", NeedsKg: true, Ablations: []orchestratorv1.Ablation{
			orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH, orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH,
		}},
	}}, s.err
}

func (s *services) ListRuns(context.Context,
	*orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error) {
	resp := &orchestratorv1.ListRunsResponse{}
	if s.run != nil {
		resp.Runs = append(resp.Runs, s.run)
	}
	return resp, s.err
}

func (s *services) GetRun(context.Context, *orchestratorv1.GetRunRequest) (*orchestratorv1.GetRunResponse, error) {
	return &orchestratorv1.GetRunResponse{Run: s.run}, s.err
}

func (s *services) ListKnowledgeGraphs(_ context.Context,
	req *retrieverv1.ListKnowledgeGraphsRequest) (*retrieverv1.ListKnowledgeGraphsResponse, error) {
	resp := &retrieverv1.ListKnowledgeGraphsResponse{}
	for _, k := range s.kgs {
		if req.GetKgName() == "" || req.GetKgName() == k.GetKg().GetName() {
			resp.Snapshots = append(resp.Snapshots, k)
		}
	}
	if req.GetKgName() != "" && len(resp.GetSnapshots()) == 0 {
		return nil, status.Errorf(codes.NotFound, "list knowledge graph %q: not found", req.GetKgName())
	}
	return resp, nil
}

func (s *services) LoadKnowledgeGraphStream(stream grpc.BidiStreamingServer[retrieverv1.LoadKnowledgeGraphStreamRequest,
	retrieverv1.LoadKnowledgeGraphStreamResponse]) error {
	if s.err != nil {
		return s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	file := ""
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			for _, phase := range []retrieverv1.LoadPhase{retrieverv1.LoadPhase_LOAD_PHASE_READ,
				retrieverv1.LoadPhase_LOAD_PHASE_ENCODE} {
				progress := &retrieverv1.LoadProgress{Phase: phase, Done: 1, Total: proto.Uint64(3)}
				if err := stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{
					Event: &retrieverv1.LoadKnowledgeGraphStreamResponse_Progress{
						Progress: progress}}); err != nil {
					return err
				}
			}
			return stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{
				Event: &retrieverv1.LoadKnowledgeGraphStreamResponse_Result{
					Result: &retrieverv1.LoadKnowledgeGraphResponse{
						Snapshot: snapshot(s.header.GetKg().GetName(), 7, true), Lines: 3, BadLines: 3,
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
		case *retrieverv1.LoadKnowledgeGraphRequest_Header:
			s.header = part.Header
		case *retrieverv1.LoadKnowledgeGraphRequest_File:
			file = part.File.GetName() + " " + part.File.GetFormat().String()
			s.files[file], s.columns = "", part.File.GetColumns()
		case *retrieverv1.LoadKnowledgeGraphRequest_Chunk:
			s.files[file] += string(part.Chunk)
		}
	}
}

func (s *services) CompactSnapshot(_ context.Context,
	req *retrieverv1.CompactSnapshotRequest) (*retrieverv1.CompactSnapshotResponse, error) {
	return &retrieverv1.CompactSnapshotResponse{Snapshot: snapshot(req.GetKg().GetName(), 9, true)}, s.err
}

func (s *services) DiffSnapshots(req *retrieverv1.DiffSnapshotsRequest,
	stream grpc.ServerStreamingServer[retrieverv1.DiffSnapshotsResponse]) error {
	s.diffed = req
	triple := func(object string) *graphv1.Triple {
		return &graphv1.Triple{Subject: "Ada", Relation: "knows", Object: object,
			Validity: &graphv1.ValidityInterval{Start: "1833"}}
	}
	return stream.Send(&retrieverv1.DiffSnapshotsResponse{Differences: []*retrieverv1.Difference{
		{Triple: triple("Charles"), Added: true}, {Triple: triple("Bob\x1b[2J")},
	}})
}

func (s *services) ExportSnapshot(_ *retrieverv1.ExportSnapshotRequest,
	stream grpc.ServerStreamingServer[retrieverv1.ExportSnapshotResponse]) error {
	for _, part := range []string{"a who", "le file"} {
		if err := stream.Send(&retrieverv1.ExportSnapshotResponse{Chunk: []byte(part)}); err != nil {
			return err
		}
	}
	return s.err
}

func (s *services) ImportSnapshot(stream grpc.ClientStreamingServer[retrieverv1.ImportSnapshotRequest,
	retrieverv1.ImportSnapshotResponse]) error {
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			if s.err != nil {
				return s.err
			}
			return stream.SendAndClose(&retrieverv1.ImportSnapshotResponse{Snapshot: snapshot("mars", 8, true)})
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

func (s *services) DropKnowledgeGraph(_ context.Context,
	req *retrieverv1.DropKnowledgeGraphRequest) (*retrieverv1.DropKnowledgeGraphResponse, error) {
	s.dropped = req.GetKg()
	return &retrieverv1.DropKnowledgeGraphResponse{Dropped: []*graphv1.KnowledgeGraphRef{{Name: req.GetKg().GetName(),
			Snapshot: 1}}},
		s.err
}

func (s *services) ActivateSnapshot(_ context.Context,
	req *retrieverv1.ActivateSnapshotRequest) (*retrieverv1.ActivateSnapshotResponse, error) {
	s.activated = req.GetKg()
	return &retrieverv1.ActivateSnapshotResponse{Snapshot: &retrieverv1.SnapshotInfo{Kg: req.GetKg()}}, s.err
}

func (s *services) RollbackKnowledgeGraph(_ context.Context,
	req *retrieverv1.RollbackKnowledgeGraphRequest) (*retrieverv1.RollbackKnowledgeGraphResponse, error) {
	return &retrieverv1.RollbackKnowledgeGraphResponse{Snapshot: snapshot(req.GetKg().GetName(), 1, true)}, s.err
}

func (s *services) VerifySnapshot(_ context.Context,
	req *retrieverv1.VerifySnapshotRequest) (*retrieverv1.VerifySnapshotResponse, error) {
	return &retrieverv1.VerifySnapshotResponse{Snapshot: snapshot(req.GetKg().GetName(), 1, true), Bytes: 2_500_000},
		s.err
}

func snapshot(name string, n uint64, active bool) *retrieverv1.SnapshotInfo {
	return &retrieverv1.SnapshotInfo{Kg: &graphv1.KnowledgeGraphRef{Name: name, Snapshot: n}, Triples: 3,
		Entities: 4, Relations: 2,
		Bytes: 1_500_000, Encoder: "tiny", CreateTime: timestamppb.Now(), Active: active}
}

func answeredRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Id: "01RUN", Question: "Who?", Method: "pg-akv", Text: "It is {Ada}.",
		Answers:   []*orchestratorv1.Answer{{Answer: "Ada"}},
		Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED, GroundingReason: "a triple says so",
		Graphs:    &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{}},
		Spans:     []*orchestratorv1.Span{{SpanId: "1", Service: "orchestrator", Name: "Ask"}},
		StartTime: timestamppb.Now(),
	}
}

// triplemesh runs a command line in this process, in folders of its own.
func triplemesh(t *testing.T, env []string, stdin string, args ...string) testkit.Output {
	t.Helper()
	return triplemeshIn(t, t.Context(), env, stdin, args...)
}

func triplemeshIn(t *testing.T, ctx context.Context, env []string, stdin string, args ...string) testkit.Output {
	t.Helper()
	return testkit.RunCommand(t, func(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return run(ctx, "v1", args, env, stdin, stdout, stderr)
	}, stdin, args...)
}

func (s *services) CreateRanker(stream grpc.ClientStreamingServer[retrieverv1.CreateRankerRequest,
	retrieverv1.CreateRankerResponse]) error {
	s.ranker = nil
	for {
		m, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		s.ranker = append(s.ranker, m.GetChunk()...)
	}
	return stream.SendAndClose(&retrieverv1.CreateRankerResponse{Ranker: &retrieverv1.RankerInfo{Number: 3}})
}

func (s *services) ListRankers(context.Context,
	*retrieverv1.ListRankersRequest) (*retrieverv1.ListRankersResponse, error) {
	return &retrieverv1.ListRankersResponse{Rankers: s.rankers}, s.err
}

func (s *services) ActivateRanker(_ context.Context,
	req *retrieverv1.ActivateRankerRequest) (*retrieverv1.ActivateRankerResponse, error) {
	return &retrieverv1.ActivateRankerResponse{Ranker: &retrieverv1.RankerInfo{Number: req.GetNumber()}}, s.err
}

func (s *services) RollbackRanker(context.Context,
	*retrieverv1.RollbackRankerRequest) (*retrieverv1.RollbackRankerResponse, error) {
	resp := &retrieverv1.RollbackRankerResponse{}
	if len(s.rankers) > 0 {
		resp.Ranker = s.rankers[0]
	}
	return resp, s.err
}

func (s *services) DeleteRanker(context.Context,
	*retrieverv1.DeleteRankerRequest) (*retrieverv1.DeleteRankerResponse, error) {
	return &retrieverv1.DeleteRankerResponse{}, s.err
}
