package orchestrator

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// graphs is the final service.
type graphs struct {
	retrieverv1.UnimplementedKnowledgeGraphServiceServer
	list func(context.Context, *retrieverv1.ListKnowledgeGraphsRequest) (*retrieverv1.ListKnowledgeGraphsResponse,
		error)
	ended chan error // what LoadStream's caller did in the end
}

func (g *graphs) ListKnowledgeGraphs(ctx context.Context,
	req *retrieverv1.ListKnowledgeGraphsRequest) (*retrieverv1.ListKnowledgeGraphsResponse, error) {
	return g.list(ctx, req)
}

// LoadKnowledgeGraph counts bytes.
func (g *graphs) LoadKnowledgeGraph(stream grpc.ClientStreamingServer[retrieverv1.LoadKnowledgeGraphRequest,
	retrieverv1.LoadKnowledgeGraphResponse]) error {
	var bytes uint64
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&retrieverv1.LoadKnowledgeGraphResponse{Lines: bytes})
		}
		if err != nil {
			return err
		}
		bytes += uint64(len(req.GetChunk()))
	}
}

// LoadKnowledgeGraphStream tells of each message, and refuses the file "bad".
func (g *graphs) LoadKnowledgeGraphStream(stream grpc.BidiStreamingServer[retrieverv1.LoadKnowledgeGraphStreamRequest,
	retrieverv1.LoadKnowledgeGraphStreamResponse]) (err error) {
	defer func() { g.ended <- err }()
	for n := uint64(1); ; n++ {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{
				Event: &retrieverv1.LoadKnowledgeGraphStreamResponse_Result{
					Result: &retrieverv1.LoadKnowledgeGraphResponse{Lines: n}}})
		}
		if err != nil {
			return err
		}
		if req.GetRequest().GetFile().GetName() == "bad" {
			return status.Error(codes.FailedPrecondition, "bad file")
		}
		if err := stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{
			Event: &retrieverv1.LoadKnowledgeGraphStreamResponse_Progress{
				Progress: &retrieverv1.LoadProgress{Done: n}}}); err != nil {
			return err
		}
	}
}

// ExportSnapshot sends three pieces.
func (g *graphs) ExportSnapshot(req *retrieverv1.ExportSnapshotRequest,
	stream grpc.ServerStreamingServer[retrieverv1.ExportSnapshotResponse]) error {
	for _, piece := range []string{"a", "b", req.GetKg().GetName()} {
		if err := stream.Send(&retrieverv1.ExportSnapshotResponse{Chunk: []byte(piece)}); err != nil {
			return err
		}
	}
	return nil
}

// meshToken authenticates the two servers to each other.
const meshToken = "a-secret-of-the-stages-of-this-test"

// serveForwarded runs a stage's server that authenticates callers.
func serveForwarded(t *testing.T, stage, tokens string, register func(grpc.ServiceRegistrar)) *testkit.Service {
	t.Helper()
	return testkit.Serve(t, func(ctx context.Context, lis net.Listener) error {
		cfg := server.DefaultConfig("")
		cfg.Listener, cfg.Auth.TokensFile, cfg.Auth.MeshToken = lis, tokens, meshToken
		tel, err := telemetry.Start(ctx, telemetry.Config{LogWriter: t.Output()}, stage)
		if err != nil {
			return err
		}
		srv, err := server.New(cfg, tel)
		if err != nil {
			return err
		}
		register(srv.Registrar())
		return errors.Join(srv.Serve(ctx), tel.Shutdown(context.Background()))
	})
}

// start runs the service behind a forwarding server, and returns a client of the latter and a
// function that adds ana's token (tenant acme) to a context.
func start(t *testing.T, g *graphs) (retrieverv1.KnowledgeGraphServiceClient, func(context.Context) context.Context) {
	t.Helper()
	token, tokens := auth.NewToken(), filepath.Join(t.TempDir(), "tokens.yaml")
	data, err := auth.Tokens{Tokens: []auth.Token{{Name: "ana", Tenant: "acme", Scopes: []string{"kg:read", "kg:write"},
		SHA256: auth.Hash(token)}}}.Format()
	if err == nil {
		err = os.WriteFile(tokens, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	g.ended = make(chan error, 1)
	behind := serveForwarded(t, "retriever", tokens,
		func(s grpc.ServiceRegistrar) { retrieverv1.RegisterKnowledgeGraphServiceServer(s, g) })
	cfg := client.DefaultConfig(behind.Addr)
	cfg.Token = meshToken
	conn, err := client.Dial(cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	front := serveForwarded(t, "orchestrator", tokens, func(s grpc.ServiceRegistrar) {
		if err := forwardServices(s, conn, &retrieverv1.KnowledgeGraphService_ServiceDesc); err != nil {
			t.Fatal(err)
		}
	})
	return retrieverv1.NewKnowledgeGraphServiceClient(front.Conn), func(ctx context.Context) context.Context {
		return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
}

func TestCallCarriesTheCallersIdentity(t *testing.T) {
	var callers []auth.Caller
	kgs, ana := start(t, &graphs{list: func(ctx context.Context,
		req *retrieverv1.ListKnowledgeGraphsRequest) (*retrieverv1.ListKnowledgeGraphsResponse, error) {
		caller, _ := auth.CallerFrom(ctx)
		callers = append(callers, caller)
		return &retrieverv1.ListKnowledgeGraphsResponse{Snapshots: []*retrieverv1.SnapshotInfo{
			{Kg: &graphv1.KnowledgeGraphRef{Name: req.GetKgName()}}}}, nil
	}})
	resp, err := kgs.ListKnowledgeGraphs(ana(t.Context()), &retrieverv1.ListKnowledgeGraphsRequest{KgName: "wikidata"})
	if err != nil || resp.GetSnapshots()[0].GetKg().GetName() != "wikidata" {
		t.Fatalf("got %v, %v", resp, err)
	}
	if len(callers) != 1 || callers[0].Tenant.String() != "acme" || callers[0].Subject != "ana" ||
		callers[0].Via == "" {
		t.Errorf("it was called for %+v", callers)
	}
	if _, err := kgs.ListKnowledgeGraphs(t.Context(),
		&retrieverv1.ListKnowledgeGraphsRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	if _, err := kgs.RollbackKnowledgeGraph(ana(t.Context()),
		&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "NO NAME"}}); status.Code(
		err) != codes.InvalidArgument {
		t.Errorf("with what cannot be: %v", err)
	}
	if len(callers) != 1 {
		t.Errorf("what was refused was passed on: %+v", callers)
	}
}

func TestStatusKeepsItsDetails(t *testing.T) {
	want, err := status.New(codes.ResourceExhausted, "too many").WithDetails(
		&errdetails.ErrorInfo{Reason: "FULL", Domain: "triplemesh", Metadata: map[string]string{"stage": "retriever"}},
		&errdetails.RequestInfo{RequestId: "r"})
	if err != nil {
		t.Fatal(err)
	}
	kgs, ana := start(t, &graphs{list: func(context.Context, *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse,
		error) {
		return nil, want.Err()
	}})
	_, err = kgs.ListKnowledgeGraphs(ana(t.Context()), &retrieverv1.ListKnowledgeGraphsRequest{})
	if got := status.Convert(err); !proto.Equal(got.Proto(), want.Proto()) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSpansOfBothServersAreReturned(t *testing.T) {
	kgs, ana := start(t, &graphs{list: func(context.Context, *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse,
		error) {
		return &retrieverv1.ListKnowledgeGraphsResponse{}, nil
	}})
	var trailer metadata.MD
	ctx := metadata.AppendToOutgoingContext(ana(t.Context()), telemetry.CollectSpansKey, "1")
	if _, err := kgs.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{},
		grpc.Trailer(&trailer)); err != nil {
		t.Fatal(err)
	}
	var services []string
	for _, data := range trailer.Get(telemetry.SpansKey) {
		spans, err := telemetry.DecodeSpans([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range spans {
			services = append(services, s.GetService())
		}
	}
	for _, want := range []string{"orchestrator", "retriever"} {
		if !slices.Contains(services, want) {
			t.Errorf("there is no span of the %s among those of %q", want, services)
		}
	}
}

func TestStreams(t *testing.T) {
	g := &graphs{}
	kgs, ana := start(t, g)
	header := &retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{
		Header: &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "plans"}}}}
	file := func(name string) *retrieverv1.LoadKnowledgeGraphRequest {
		return &retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{
			File: &retrieverv1.FileHeader{Name: name}}}
	}
	t.Run("of the caller alone", func(t *testing.T) {
		stream, err := kgs.LoadKnowledgeGraph(ana(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if err := stream.Send(&retrieverv1.LoadKnowledgeGraphRequest{
				Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{Chunk: make([]byte,
					1<<16)}}); err != nil {
				t.Fatal(err)
			}
		}
		resp, err := stream.CloseAndRecv()
		if err != nil || resp.GetLines() != 100<<16 {
			t.Errorf("got %v, %v", resp, err)
		}
	})
	t.Run("of the server alone", func(t *testing.T) {
		stream, err := kgs.ExportSnapshot(ana(t.Context()),
			&retrieverv1.ExportSnapshotRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "plans"}})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for {
			piece, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got += string(piece.GetChunk())
		}
		if got != "abplans" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("of both", func(t *testing.T) {
		stream := loadTwice(ana(t.Context()), t, kgs)
		for n := range uint64(3) {
			if event, err := exchange(stream, header); err != nil || event.GetProgress().GetDone() != n+1 {
				t.Fatalf("got %v, %v", event, err)
			}
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if event, err := stream.Recv(); err != nil || event.GetResult().GetLines() != 4 {
			t.Fatalf("got %v, %v", event, err)
		}
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("it ends with %v", err)
		}
		<-g.ended
	})
	t.Run("that the other server ends", func(t *testing.T) {
		stream := loadTwice(ana(t.Context()), t, kgs)
		if _, err := exchange(stream, file("bad")); status.Code(err) != codes.FailedPrecondition ||
			status.Convert(err).Message() != "bad file" {
			t.Errorf("got %v", err)
		}
		<-g.ended
	})
	t.Run("with a message that cannot be", func(t *testing.T) {
		stream := loadTwice(ana(t.Context()), t, kgs)
		if _, err := exchange(stream, header); err != nil {
			t.Fatal(err)
		}
		if _, err := exchange(stream, file("")); status.Code(err) != codes.InvalidArgument {
			t.Errorf("got %v, want what the front server says", err)
		}
		if err := <-g.ended; status.Code(err) != codes.Canceled {
			t.Errorf("the other server was left with %v", err)
		}
	})
	t.Run("whose caller goes away", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ana(t.Context()))
		stream := loadTwice(ctx, t, kgs)
		if _, err := exchange(stream, header); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-g.ended; status.Code(err) != codes.Canceled {
			t.Errorf("the other server was left with %v", err)
		}
	})
}

type loadStream = grpc.BidiStreamingClient[retrieverv1.LoadKnowledgeGraphStreamRequest,
	retrieverv1.LoadKnowledgeGraphStreamResponse]

func loadTwice(ctx context.Context, t *testing.T, kgs retrieverv1.KnowledgeGraphServiceClient) loadStream {
	t.Helper()
	stream, err := kgs.LoadKnowledgeGraphStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func exchange(stream loadStream,
	req *retrieverv1.LoadKnowledgeGraphRequest) (*retrieverv1.LoadKnowledgeGraphStreamResponse, error) {
	if err := stream.Send(&retrieverv1.LoadKnowledgeGraphStreamRequest{Request: req}); err != nil &&
		!errors.Is(err, io.EOF) {
		return nil, err
	}
	return stream.Recv()
}

func TestUnknownMethodsAreNotForwarded(t *testing.T) {
	err := forwardServices(grpc.NewServer(), nil, &grpc.ServiceDesc{ServiceName: "triplemesh.none.v1.NoService",
		Methods: []grpc.MethodDesc{{MethodName: "Nothing"}}})
	if err == nil {
		t.Error("there is no such service")
	}
}
