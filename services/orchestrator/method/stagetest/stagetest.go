// Package stagetest scripts the stages that the orchestrator calls, behind real
// gRPC in memory.
package stagetest

import (
	"context"
	"net"
	"path"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
)

// Mesh is all stages in one server. New scripts them so that every method
// answers; On changes one call. Safe for concurrent use.
type Mesh struct {
	listener *bufconn.Listener

	mu      sync.Mutex
	scripts map[protoreflect.FullName]script
	calls   []string
	asked   []proto.Message
}

type script func(context.Context, proto.Message) (proto.Message, error)

// New starts the stages; they stop with the test.
func New(tb testing.TB) *Mesh {
	tb.Helper()
	m := &Mesh{listener: bufconn.Listen(1 << 20), scripts: map[protoreflect.FullName]script{}}
	s := grpc.NewServer(grpc.UnaryInterceptor(m.unary), grpc.StreamInterceptor(m.stream))
	generatorv1.RegisterGeneratorServiceServer(s, generatorv1.UnimplementedGeneratorServiceServer{})
	retrieverv1.RegisterRetrieverServiceServer(s, retrieverv1.UnimplementedRetrieverServiceServer{})
	retrieverv1.RegisterKnowledgeGraphServiceServer(s, retrieverv1.UnimplementedKnowledgeGraphServiceServer{})
	verifierv1.RegisterVerifierServiceServer(s, verifierv1.UnimplementedVerifierServiceServer{})
	evaluatorv1.RegisterEvaluatorServiceServer(s, evaluatorv1.UnimplementedEvaluatorServiceServer{})
	reflectorv1.RegisterReflectorServiceServer(s, reflectorv1.UnimplementedReflectorServiceServer{})
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	scriptFilm(m)
	scriptRivers(m)
	scriptBeam(m)
	scriptText(m)
	served := make(chan error, 1)
	go func() { served <- s.Serve(m.listener) }()
	tb.Cleanup(func() {
		s.Stop()
		if err := <-served; err != nil {
			tb.Errorf("the scripted stages ended with: %v", err)
		}
	})
	return m
}

// Script scripts the call whose request is a Req. An error may be a status, or one
// that has a status, such as those of internal/llm.
func Script[Req, Resp proto.Message](m *Mesh, answer func(context.Context, Req) (Resp, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scripts[nameOf[Req]()] = func(ctx context.Context, req proto.Message) (proto.Message, error) {
		return answer(ctx, req.(Req))
	}
}

// Fail lets the call whose request is a Req end in an error.
func Fail[Req proto.Message](m *Mesh, err error) {
	Script(m, func(context.Context, Req) (Req, error) {
		var none Req
		return none, err
	})
}

// Hang lets the call whose request is a Req wait until its caller has no time
// left, or left.
func Hang[Req proto.Message](m *Mesh) {
	Script(m, func(ctx context.Context, _ Req) (Req, error) {
		<-ctx.Done()
		var none Req
		return none, status.FromContextError(ctx.Err()).Err()
	})
}

// Requests returns the requests of a kind so far.
func Requests[Req proto.Message](m *Mesh) (all []Req) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.asked {
		if req, ok := a.(Req); ok {
			all = append(all, req)
		}
	}
	return all
}

// Calls are the names of the calls so far, in the order in which they began.
func (m *Mesh) Calls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// Client is how to reach the stages.
func (m *Mesh) Client() client.Config {
	cfg := client.DefaultConfig("passthrough:///mesh")
	cfg.MaxAttempts = 1 // a stage that is down stays down
	cfg.Options = []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return m.listener.DialContext(ctx)
		}),
	}
	return cfg
}

// Stages are clients of the stages, as the orchestrator makes them.
func (m *Mesh) Stages(tb testing.TB) method.Stages {
	tb.Helper()
	conn, err := client.Dial(m.Client(), telemetry.Discard())
	if err != nil {
		tb.Fatalf("dial the scripted stages: %v", err)
	}
	tb.Cleanup(func() { conn.Close() })
	return method.Stages{
		Generator: generatorv1.NewGeneratorServiceClient(conn),
		Retriever: retrieverv1.NewRetrieverServiceClient(conn),
		Verifier:  verifierv1.NewVerifierServiceClient(conn),
		Evaluator: evaluatorv1.NewEvaluatorServiceClient(conn),
		Reflector: reflectorv1.NewReflectorServiceClient(conn),
	}
}

func (m *Mesh) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
	return m.answer(ctx, info.FullMethod, req.(proto.Message))
}

// stream answers GenerateAnswerStream: the text in two pieces, then the answer.
func (m *Mesh) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if info.FullMethod == grpc_health_v1.Health_Watch_FullMethodName {
		return handle(srv, ss)
	}
	req := &generatorv1.GenerateAnswerStreamRequest{}
	if err := ss.RecvMsg(req); err != nil {
		return err
	}
	resp, err := m.answer(ss.Context(), info.FullMethod, req)
	if err != nil {
		return err
	}
	answer := resp.(*generatorv1.GenerateAnswerResponse)
	text := answer.GetText()
	for _, piece := range []string{text[:len(text)/2], text[len(text)/2:]} {
		event := &generatorv1.GenerateAnswerStreamResponse{Event: &generatorv1.GenerateAnswerStreamResponse_Delta{
			Delta: piece}}
		if err := ss.SendMsg(event); err != nil {
			return err
		}
	}
	return ss.SendMsg(&generatorv1.GenerateAnswerStreamResponse{Event: &generatorv1.GenerateAnswerStreamResponse_Answer{
		Answer: answer}})
}

func (m *Mesh) answer(ctx context.Context, fullMethod string, req proto.Message) (proto.Message, error) {
	m.mu.Lock()
	name := path.Base(fullMethod)
	m.calls = append(m.calls, name)
	m.asked = append(m.asked, req)
	s := m.scripts[req.ProtoReflect().Descriptor().FullName()]
	m.mu.Unlock()
	if s == nil {
		return nil, status.Errorf(codes.Unimplemented, "%s is not scripted", name)
	}
	return s(ctx, req)
}

func nameOf[M proto.Message]() protoreflect.FullName {
	var none M
	return none.ProtoReflect().Descriptor().FullName()
}
