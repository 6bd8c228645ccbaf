package client_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// claims is a generator whose version knows one call, and streams.
type claims struct {
	generatorv1.UnimplementedGeneratorServiceServer
	asked *atomic.Int64
}

func (c claims) ExtractClaims(context.Context,
	*generatorv1.ExtractClaimsRequest) (*generatorv1.ExtractClaimsResponse, error) {
	c.asked.Add(1)
	return &generatorv1.ExtractClaimsResponse{}, nil
}

func (c claims) GenerateAnswerStream(_ *generatorv1.GenerateAnswerStreamRequest,
	stream grpc.ServerStreamingServer[generatorv1.GenerateAnswerStreamResponse]) error {
	c.asked.Add(1)
	return stream.Send(&generatorv1.GenerateAnswerStreamResponse{})
}

// generator serves one of the two, or, with nil, a version without all calls.
func generator(t *testing.T, of *claims) string {
	t.Helper()
	lis, s, served := listen(t), grpc.NewServer(), make(chan error, 1)
	if of != nil {
		generatorv1.RegisterGeneratorServiceServer(s, of)
	} else {
		desc := generatorv1.GeneratorService_ServiceDesc
		desc.Methods, desc.Streams = nil, nil
		s.RegisterService(&desc, generatorv1.UnimplementedGeneratorServiceServer{})
	}
	go func() { served <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return lis.Addr().String()
}

func generators(t *testing.T, addrs ...string) generatorv1.GeneratorServiceClient {
	t.Helper()
	return generatorv1.NewGeneratorServiceClient(connect(t, strings.Join(addrs, ",")))
}

// streamed is the error that a stream of an answer ends with.
func streamed(t *testing.T, c generatorv1.GeneratorServiceClient) error {
	t.Helper()
	stream, err := c.GenerateAnswerStream(t.Context(), &generatorv1.GenerateAnswerStreamRequest{})
	for err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func TestACallThatAnOlderReplicaDoesNotKnowGoesToANewerOne(t *testing.T) {
	var asked atomic.Int64
	c := generators(t, generator(t, nil), generator(t, &claims{asked: &asked}))
	// Until the newer one is connected there is none to go to.
	for asked.Load() == 0 {
		_, _ = c.ExtractClaims(t.Context(), &generatorv1.ExtractClaimsRequest{})
	}
	asked.Store(0)
	for range 50 {
		if _, err := c.ExtractClaims(t.Context(), &generatorv1.ExtractClaimsRequest{}); err != nil {
			t.Fatal(err)
		}
		if err := streamed(t, c); err != nil {
			t.Fatal(err)
		}
	}
	if got := asked.Load(); got != 100 {
		t.Errorf("the newer one answered %d of 100 calls", got)
	}
}

func TestACallThatNoReplicaKnowsSaysWhatToUpgrade(t *testing.T) {
	c := generators(t, generator(t, nil), generator(t, nil))
	_, unary := c.ExtractClaims(t.Context(), &generatorv1.ExtractClaimsRequest{})
	for name, err := range map[string]error{"ExtractClaims": unary, "GenerateAnswerStream": streamed(t, c)} {
		st := status.Convert(err)
		if st.Code() != codes.Unimplemented || !strings.Contains(st.Message(), "the generator does not have "+name) ||
			!strings.Contains(st.Message(), "upgrade it") {
			t.Errorf("%s: %v", name, err)
		}
		if d := st.Details(); len(d) != 1 || d[0].(*errdetails.ErrorInfo).GetReason() != "STAGE_OUTDATED" {
			t.Errorf("%s: details %v", name, d)
		}
	}
}

func TestWhatAServerSaysItselfIsPassedOn(t *testing.T) {
	c := generators(t, generator(t, &claims{asked: new(atomic.Int64)}))
	_, err := c.RewriteQuestion(t.Context(), &generatorv1.RewriteQuestionRequest{})
	if st := status.Convert(err); st.Code() != codes.Unimplemented || !strings.Contains(st.Message(),
		"not implemented") {
		t.Errorf("got %v", err)
	}
}

func TestAStageThatCannotBeReachedIsNamedWithoutItsAddress(t *testing.T) {
	_, err := generators(t, "127.0.0.1:1").ExtractClaims(t.Context(), &generatorv1.ExtractClaimsRequest{})
	if st := status.Convert(err); st.Code() != codes.Unavailable ||
		!strings.HasPrefix(st.Message(), "the generator cannot be reached: it is starting") {
		t.Errorf("%v", err)
	}
}
