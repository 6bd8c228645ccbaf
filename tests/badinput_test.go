package tests

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestBadQuestionsAreRefusedByCode(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	kg := func(name string, snapshot uint64) *graphv1.KnowledgeGraphRef {
		return &graphv1.KnowledgeGraphRef{Name: name, Snapshot: snapshot}
	}
	for _, c := range []struct {
		name     string
		req      *orchestratorv1.AskRequest
		code     codes.Code
		contains string
	}{
		{"an empty question is INVALID_ARGUMENT", &orchestratorv1.AskRequest{Kg: kg(wikidata, 0)},
			codes.InvalidArgument, "question"},
		{"one byte is answered", &orchestratorv1.AskRequest{Question: "?", Kg: kg(wikidata, 0)}, codes.OK, ""},
		{"100 kB are INVALID_ARGUMENT", &orchestratorv1.AskRequest{Question: strings.Repeat("why ", 25_000),
			Kg: kg(wikidata, 0)}, codes.InvalidArgument, "question"},
		{"an unknown method is INVALID_ARGUMENT", &orchestratorv1.AskRequest{Question: "?", Method: "guess",
			Kg: kg(wikidata, 0)}, codes.InvalidArgument, "pg-akv"},
		{"no knowledge graph is INVALID_ARGUMENT if the method reads one", &orchestratorv1.AskRequest{Question: "?"},
			codes.InvalidArgument, "kg"},
		{"a name that cannot be is INVALID_ARGUMENT", &orchestratorv1.AskRequest{Question: "?", Kg: kg("../etc", 0)},
			codes.InvalidArgument, "kg.name"},
		{"an unknown knowledge graph is NOT_FOUND", &orchestratorv1.AskRequest{Question: "?", Kg: kg("wikipedia", 0)},
			codes.NotFound, wikidata},
		{"an unknown snapshot is NOT_FOUND", &orchestratorv1.AskRequest{Question: "?", Kg: kg(wikidata, 9)},
			codes.NotFound, "9"},
		{"no active snapshot is FAILED_PRECONDITION", &orchestratorv1.AskRequest{Question: "?", Kg: kg(idle, 0)},
			codes.FailedPrecondition, "activate"},
		{"a stage that the method lacks is INVALID_ARGUMENT", &orchestratorv1.AskRequest{Question: "?",
			Kg: kg(wikidata, 0), Options: &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_REFLECT}},
			codes.InvalidArgument, "pseudo-graph"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := m.orchestrator.Ask(timeoutContext(t, patience), c.req)
			checkStatus(t, err, c.code, c.contains)
			if err == nil && resp.GetRun().GetText() == "" {
				t.Errorf("it is answered with nothing: %v", resp)
			}
			stream, err := m.orchestrator.AskStream(timeoutContext(t, patience),
				&orchestratorv1.AskStreamRequest{Request: c.req})
			for err == nil {
				var event *orchestratorv1.AskStreamResponse
				if event, err = stream.Recv(); event.GetRun() != nil {
					break
				}
			}
			checkStatus(t, err, c.code, c.contains)
		})
	}
}

// Protobuf libraries refuse to send such a question, so the test encodes the bytes itself.
func TestAQuestionThatIsNotUTF8IsInvalid(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	conn := m.dial(t, "orchestrator")
	request := protowire.AppendTag(nil, 1, protowire.BytesType)
	request = protowire.AppendString(request, "caf\xe9?")
	wrapped := protowire.AppendTag(nil, 1, protowire.BytesType)
	wrapped = protowire.AppendBytes(wrapped, request)

	var answer []byte
	err := conn.Invoke(timeoutContext(t, patience), orchestratorv1.OrchestratorService_Ask_FullMethodName,
		request, &answer,
		grpc.ForceCodec(raw{}))
	checkStatus(t, err, codes.InvalidArgument, "UTF-8")

	stream, err := conn.NewStream(timeoutContext(t, patience), &grpc.StreamDesc{ServerStreams: true},
		orchestratorv1.OrchestratorService_AskStream_FullMethodName, grpc.ForceCodec(raw{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg(wrapped); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	checkStatus(t, stream.RecvMsg(&answer), codes.InvalidArgument, "UTF-8")
}

// raw is a codec that sends bytes unchanged.
type raw struct{}

func (raw) Name() string                  { return "proto" }
func (raw) Marshal(v any) ([]byte, error) { return v.([]byte), nil }
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = data
	return nil
}

func TestDisconnectCancelsTheQuestion(t *testing.T) {
	model := scripted(t)
	m := start(t, options{model: model})
	model.On().Hang()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := m.orchestrator.Ask(ctx, question("pg-akv"))
		ended <- err
	}()
	model.Await(1)
	cancel()
	checkStatus(t, <-ended, codes.Canceled, "")
}

// checkStatus checks an error's code and that its message contains a text.
func checkStatus(t *testing.T, err error, code codes.Code, contains string) {
	t.Helper()
	if got := status.Convert(err); got.Code() != code || !strings.Contains(got.Message(), contains) {
		t.Errorf("got %v: %q, want %v with %q", got.Code(), got.Message(), code, contains)
	}
}
