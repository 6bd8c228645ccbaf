package server_test

import (
	"context"
	"net"
	"testing"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// reflector is a ReflectorService made of a function.
type reflector struct {
	reflectorv1.UnimplementedReflectorServiceServer
	reflect func(context.Context, *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error)
}

func (r reflector) Reflect(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
	return r.reflect(ctx, req)
}

// answering answers every question by f.
func answering(f func(context.Context, *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse,
	error)) func(grpc.ServiceRegistrar) {
	return func(s grpc.ServiceRegistrar) { reflectorv1.RegisterReflectorServiceServer(s, reflector{reflect: f}) }
}

// failing fails every question.
func failing(err error) func(grpc.ServiceRegistrar) {
	return answering(func(context.Context, *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
		return nil, err
	})
}

// reflectRequest asks a question about one candidate.
func reflectRequest(question string) *reflectorv1.ReflectRequest {
	return &reflectorv1.ReflectRequest{Question: question,
		Candidates: []*graphv1.CandidateAnswer{{Answer: "because"}}}
}

func echo(_ context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
	return &reflectorv1.ReflectResponse{Reason: req.GetQuestion()}, nil
}

// orchestrator is an OrchestratorService with one stream.
type orchestrator struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	ask func(*orchestratorv1.AskStreamRequest, grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error
}

func (o orchestrator) AskStream(req *orchestratorv1.AskStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	return o.ask(req, stream)
}

func streaming(f func(*orchestratorv1.AskStreamRequest,
	grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error) func(grpc.ServiceRegistrar) {
	return func(s grpc.ServiceRegistrar) {
		orchestratorv1.RegisterOrchestratorServiceServer(s, orchestrator{ask: f})
	}
}

var askStream = &orchestratorv1.AskStreamRequest{Request: &orchestratorv1.AskRequest{Question: "why"}}

// running is a server under test and a connection to it.
type running struct {
	*server.Server
	conn *grpc.ClientConn
	addr string
	log  *testkit.Log
	// stop begins the end; stopped has what Serve returned.
	stop    context.CancelFunc
	stopped chan error
}

func (r *running) reflect(ctx context.Context, question string,
	opts ...grpc.CallOption) (*reflectorv1.ReflectResponse, error) {
	return reflectorv1.NewReflectorServiceClient(r.conn).Reflect(ctx, reflectRequest(question),
		opts...)
}

func telemetryFor(t testing.TB, service string) (*telemetry.Telemetry, *testkit.Log) {
	t.Helper()
	log := &testkit.Log{}
	tel, err := telemetry.Start(t.Context(), telemetry.Config{LogLevel: "debug", LogFormat: "json", LogWriter: log},
		service)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tel.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tel, log
}

// start serves on a loopback port until the test ends.
func start(t testing.TB, service string, register func(grpc.ServiceRegistrar), set ...func(*server.Config)) *running {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.DefaultConfig("")
	cfg.Listener = lis
	for _, f := range set {
		f(&cfg)
	}
	tel, log := telemetryFor(t, service)
	s, err := server.New(cfg, tel)
	if err != nil {
		t.Fatal(err)
	}
	register(s.Registrar())
	ctx, stop := context.WithCancel(t.Context())
	r := &running{Server: s, addr: lis.Addr().String(), log: log, stop: stop, stopped: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.stopped <- s.Serve(ctx)
	}()
	clientTel, _ := telemetryFor(t, "caller")
	if r.conn, err = client.Dial(client.DefaultConfig(r.addr), clientTel); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.conn.Close(); err != nil {
			t.Error(err)
		}
		stop()
		<-done
	})
	return r
}

func wantCode(t testing.TB, err error, want codes.Code) *status.Status {
	t.Helper()
	st := status.Convert(err)
	if st.Code() != want {
		t.Fatalf("got %v %q, want %v", st.Code(), st.Message(), want)
	}
	return st
}

func detail[D any](st *status.Status) D {
	for _, d := range st.Details() {
		if d, ok := d.(D); ok {
			return d
		}
	}
	var none D
	return none
}

func wantInfo(t testing.TB, st *status.Status, reason, stage string) {
	t.Helper()
	info := detail[*errdetails.ErrorInfo](st)
	if info.GetDomain() != "triplemesh" || info.GetReason() != reason || info.GetMetadata()["stage"] != stage {
		t.Errorf("got error info %v, want reason %s of stage %s", info, reason, stage)
	}
}
