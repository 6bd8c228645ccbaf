package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/client"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// standIn stands in for a mesh: it fails by a list of errors, then answers.
type standIn struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	retrieverv1.UnimplementedKnowledgeGraphServiceServer

	mu       sync.Mutex
	failures []error
	calls    int
	token    []string
	kg       string
	loaded   map[string]int // bytes by file name
}

func (s *standIn) attempt(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.token = metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(s.failures) == 0 {
		return nil
	}
	err := s.failures[0]
	s.failures = s.failures[1:]
	return err
}

func answer(question string) *orchestratorv1.Run {
	evidence := &graphv1.Triple{Subject: "Robert Stam", Relation: "employer", Object: "New York University"}
	return &orchestratorv1.Run{
		Question: question, Text: "Robert Stam worked at New York University.",
		Answers: []*orchestratorv1.Answer{{Answer: "New York University", Evidence: []*graphv1.Triple{evidence}}},
	}
}

func (s *standIn) Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	if err := s.attempt(ctx); err != nil {
		return nil, err
	}
	s.kg = req.GetKg().GetName()
	return &orchestratorv1.AskResponse{Run: answer(req.GetQuestion())}, nil
}

func (s *standIn) AskStream(req *orchestratorv1.AskStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	if err := s.attempt(stream.Context()); err != nil {
		return err
	}
	started := &orchestratorv1.StageStarted{Stage: orchestratorv1.Stage_STAGE_ANSWER}
	_ = stream.Send(&orchestratorv1.AskStreamResponse{
		Event: &orchestratorv1.AskStreamResponse_StageStarted{StageStarted: started}})
	if req.GetRequest().GetQuestion() == "endless" {
		<-stream.Context().Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = -1
		return nil
	}
	return stream.Send(&orchestratorv1.AskStreamResponse{
		Event: &orchestratorv1.AskStreamResponse_Run{Run: answer(req.GetRequest().GetQuestion())}})
}

func (s *standIn) Check(_ context.Context, req *orchestratorv1.CheckRequest) (*orchestratorv1.CheckResponse, error) {
	return &orchestratorv1.CheckResponse{Check: &orchestratorv1.Check{Text: req.GetText(), Kg: req.GetKg()}}, nil
}

func (s *standIn) ListRuns(_ context.Context,
	req *orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error) {
	if req.GetPageToken() == "" {
		return &orchestratorv1.ListRunsResponse{Runs: []*orchestratorv1.Run{{Id: "2"}}, NextPageToken: "next"}, nil
	}
	return &orchestratorv1.ListRunsResponse{Runs: []*orchestratorv1.Run{{Id: "1"}}}, nil
}

func (s *standIn) RollbackKnowledgeGraph(ctx context.Context,
	_ *retrieverv1.RollbackKnowledgeGraphRequest) (*retrieverv1.RollbackKnowledgeGraphResponse, error) {
	return &retrieverv1.RollbackKnowledgeGraphResponse{}, s.attempt(ctx)
}

func (s *standIn) LoadKnowledgeGraphStream(stream grpc.BidiStreamingServer[
	retrieverv1.LoadKnowledgeGraphStreamRequest, retrieverv1.LoadKnowledgeGraphStreamResponse]) error {
	if err := s.attempt(stream.Context()); err != nil {
		return err
	}
	name, loaded := "", map[string]int{}
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if file := req.GetRequest().GetFile(); file != nil {
			name = file.GetName()
		}
		loaded[name] += len(req.GetRequest().GetChunk())
	}
	s.loaded = loaded
	_ = stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{Event: &retrieverv1.
		LoadKnowledgeGraphStreamResponse_Progress{Progress: &retrieverv1.LoadProgress{Done: 7}}})
	return stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{Event: &retrieverv1.
		LoadKnowledgeGraphStreamResponse_Result{Result: &retrieverv1.LoadKnowledgeGraphResponse{Lines: 7}}})
}

func (s *standIn) serve() (address string, stop func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer()
	orchestratorv1.RegisterOrchestratorServiceServer(server, s)
	retrieverv1.RegisterKnowledgeGraphServiceServer(server, s)
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), server.Stop
}

func serveStandIn() (address string, stop func()) { return new(standIn).serve() }

// dial serves a stand-in and connects to it.
func dial(t *testing.T, opts ...client.Option) (*standIn, *client.Client) {
	t.Helper()
	mesh := new(standIn)
	address, stop := mesh.serve()
	t.Cleanup(stop)
	c, err := client.Dial(address, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return mesh, c
}

// refusal returns an error as a mesh makes it; a negative delay leaves RetryInfo out.
func refusal(code codes.Code, delay time.Duration) error {
	details := []protoadapt.MessageV1{protoadapt.MessageV1Of(
		&errdetails.ErrorInfo{Domain: "triplemesh", Reason: "TOO_MANY_REQUESTS"})}
	if delay >= 0 {
		details = append(details, protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(delay)}))
	}
	st, err := status.New(code, "too busy").WithDetails(details...)
	if err != nil {
		panic(err)
	}
	return st.Err()
}

func TestCallsAreRetriedWhenThatIsSafe(t *testing.T) {
	unavailable := refusal(codes.Unavailable, -1)
	for _, c := range []struct {
		name     string
		failures []error
		call     func(*client.Client) error
		calls    int
		code     codes.Code
	}{
		{"an unavailable mesh", []error{unavailable, unavailable}, askQuestion, 3, codes.OK},
		{"a mesh that stays unavailable", []error{unavailable, unavailable, unavailable, unavailable}, askQuestion, 4,
			codes.Unavailable},
		{"shed load with a delay", []error{refusal(codes.ResourceExhausted, time.Millisecond)}, askQuestion, 2,
			codes.OK},
		{"shed load without a delay", []error{refusal(codes.ResourceExhausted, -1)}, askQuestion, 1,
			codes.ResourceExhausted},
		{"a quota for hours", []error{refusal(codes.ResourceExhausted, time.Hour)}, askQuestion, 1,
			codes.ResourceExhausted},
		{"an error of the request", []error{status.Error(codes.InvalidArgument, "no question")}, askQuestion, 1,
			codes.InvalidArgument},
		{"a call that is not idempotent", []error{unavailable}, func(mesh *client.Client) error {
			_, err := mesh.KnowledgeGraphs.RollbackKnowledgeGraph(context.Background(),
				&retrieverv1.RollbackKnowledgeGraphRequest{})
			return err
		}, 1, codes.Unavailable},
		{"a stream before its first event", []error{unavailable}, func(mesh *client.Client) error {
			for _, err := range mesh.AskStream(context.Background(), &orchestratorv1.AskRequest{Question: "?"}) {
				if err != nil {
					return err
				}
			}
			return nil
		}, 2, codes.OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh, conn := dial(t)
			mesh.failures = c.failures
			err := c.call(conn)
			if status.Code(err) != c.code || mesh.calls != c.calls {
				t.Errorf("got %v after %d calls, want %v after %d", err, mesh.calls, c.code, c.calls)
			}
		})
	}
}

func askQuestion(mesh *client.Client) error {
	_, err := mesh.Ask(context.Background(), &orchestratorv1.AskRequest{Question: "?"})
	return err
}

func TestADelayBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	mesh, conn := dial(t)
	mesh.failures = []error{refusal(codes.ResourceExhausted, 25*time.Second)}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := conn.Ask(ctx, &orchestratorv1.AskRequest{Question: "?"})
	delay, ok := client.RetryAfter(err)
	if ctx.Err() != nil || !ok || delay != 25*time.Second ||
		client.Reason(err) != errorsv1.ErrorReason_ERROR_REASON_TOO_MANY_REQUESTS {
		t.Errorf("got %v, retry after %v, reason %v", err, delay, client.Reason(err))
	}
}

func TestTheKnowledgeGraphOfTheClientIsTheDefault(t *testing.T) {
	mesh, conn := dial(t, client.WithKG("films"))
	req := &orchestratorv1.AskRequest{Question: "?"}
	if _, err := conn.Ask(t.Context(), req); err != nil || mesh.kg != "films" || req.GetKg() != nil {
		t.Errorf("%v: asked %q, request %v", err, mesh.kg, req)
	}
	req.Kg = &graphv1.KnowledgeGraphRef{Name: "music"}
	if _, err := conn.Ask(t.Context(), req); err != nil || mesh.kg != "music" {
		t.Errorf("%v: asked %q", err, mesh.kg)
	}
	check, err := conn.Check(t.Context(), &orchestratorv1.CheckRequest{Text: "a text"})
	if err != nil || check.GetText() != "a text" || check.GetKg().GetName() != "films" {
		t.Errorf("%v: checked %v", err, check)
	}
}

func TestAnAbandonedStreamIsCancelled(t *testing.T) {
	mesh, conn := dial(t)
	for event, err := range conn.AskStream(t.Context(), &orchestratorv1.AskRequest{Question: "endless"}) {
		if err != nil || event.GetStageStarted() == nil {
			t.Fatalf("got %v, %v", event, err)
		}
		break
	}
	for isServing := true; isServing; time.Sleep(time.Millisecond) {
		mesh.mu.Lock()
		isServing = mesh.calls >= 0
		mesh.mu.Unlock()
	}
}

func TestRunsOfAllPagesAreYielded(t *testing.T) {
	_, conn := dial(t)
	var ids []string
	for run, err := range conn.Runs(t.Context(), &orchestratorv1.ListRunsRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, run.GetId())
	}
	if fmt.Sprint(ids) != "[2 1]" {
		t.Errorf("got %v", ids)
	}
}

func TestALoadSendsFilesAndReportsProgress(t *testing.T) {
	mesh, conn := dial(t)
	path := filepath.Join(t.TempDir(), "facts.tsv")
	if err := os.WriteFile(path, []byte(strings.Repeat("a\tb\tc\n", 500_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	text := client.File{Header: &retrieverv1.FileHeader{Name: "more.tsv"}, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("x\ty\tz\n")), nil
	}}
	header := &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "films"}}
	var done uint64
	result, err := conn.Load(t.Context(), header, []client.File{client.LocalFile(path, nil), text},
		func(p *retrieverv1.LoadProgress) { done = p.GetDone() })
	if err != nil || result.GetLines() != 7 || done != 7 || mesh.loaded["facts.tsv"] != 3_000_000 ||
		mesh.loaded["more.tsv"] != 6 {
		t.Errorf("%v: result %v, progress %d, received %v", err, result, done, mesh.loaded)
	}
	_, missing := dial(t)
	_, err = missing.Load(t.Context(), header, []client.File{client.LocalFile("nowhere.tsv", nil)}, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want a missing file", err)
	}
	mesh.failures = []error{status.Error(codes.PermissionDenied, "no")}
	_, err = conn.Load(t.Context(), header, []client.File{client.LocalFile(path, nil)}, nil)
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("got %v, want the error of the mesh", err)
	}
}

func TestATokenIsNotSentInPlaintextToAnotherMachine(t *testing.T) {
	mesh, conn := dial(t, client.WithToken("secret"))
	if err := askQuestion(conn); err != nil || fmt.Sprint(mesh.token) != "[Bearer secret]" {
		t.Errorf("%v: token %v", err, mesh.token)
	}
	for _, c := range []struct {
		target string
		opts   []client.Option
		isOpen bool
	}{
		{"127.0.0.1:9090", nil, true}, {"[::1]:9090", nil, true}, {"localhost:9090", nil, true},
		{"10.0.0.1:9090", nil, false}, {"mesh.example.org:9090", nil, false}, {"dns:///mesh.example.org", nil, false},
		{"mesh.example.org:9090", []client.Option{client.WithInsecureToken()}, true},
	} {
		conn, err := client.Dial(c.target, append(c.opts, client.WithToken("secret"))...)
		if (err == nil) != c.isOpen {
			t.Errorf("dial %s: %v", c.target, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

func TestInvalidSettingsAreRefused(t *testing.T) {
	if _, err := client.Dial("127.0.0.1:1", client.WithAttempts(9)); err == nil {
		t.Error("9 attempts are accepted")
	}
	if _, err := client.LoadTLS("nowhere.crt", "", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want a missing file", err)
	}
	file := filepath.Join(t.TempDir(), "empty.crt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.LoadTLS(file, "", ""); err == nil || !strings.Contains(err.Error(), "give a PEM file") {
		t.Errorf("got %v, want no certificate", err)
	}
}
