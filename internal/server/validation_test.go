package server_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

func TestABreachOfTheRulesNamesTheField(t *testing.T) {
	r := start(t, "reflector", answering(echo))
	for _, test := range []struct{ name, question string }{
		{"an empty question is refused", ""},
		{"a question of 100 kB is refused", strings.Repeat("why ", 25_000)},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := r.reflect(t.Context(), test.question)
			st := wantCode(t, err, codes.InvalidArgument)
			wantInfo(t, st, "INVALID_REQUEST", "reflector")
			fields := detail[*errdetails.BadRequest](st).GetFieldViolations()
			if len(fields) != 1 || fields[0].GetField() != "question" || fields[0].GetDescription() == "" {
				t.Errorf("got violations %v, want one of question", fields)
			}
			if !strings.Contains(st.Message(), "question: ") || len(st.Message()) > 500 {
				t.Errorf("got message %q, want it short and naming the question", st.Message())
			}
		})
	}
	if _, err := r.reflect(t.Context(), "?"); err != nil {
		t.Errorf("a question of one byte: %v", err)
	}
}

func TestABreachByAWholeMessageNamesItOnce(t *testing.T) {
	r := start(t, "reflector", answering(echo))
	_, err := reflectorv1.NewReflectorServiceClient(r.conn).Reflect(t.Context(),
		&reflectorv1.ReflectRequest{Question: "?"})
	st := wantCode(t, err, codes.InvalidArgument)
	const name = "ReflectRequest"
	if strings.Count(st.Message(), name) != 1 {
		t.Errorf("got message %q, want it to have %s once", st.Message(), name)
	}
	fields := detail[*errdetails.BadRequest](st).GetFieldViolations()
	if len(fields) != 1 || !strings.HasSuffix(fields[0].GetField(), name) {
		t.Errorf("got violations %v, want one of the message", fields)
	}
}

func TestABreachInAStreamNamesTheField(t *testing.T) {
	r := start(t, "orchestrator", streaming(func(*orchestratorv1.AskStreamRequest,
		grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
		return nil
	}))
	ask := func(req *orchestratorv1.AskStreamRequest) error {
		stream, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).AskStream(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = stream.Recv()
		return err
	}
	if err := ask(askStream); !errors.Is(err, io.EOF) {
		t.Errorf("a good request: %v", err)
	}
	named := wantCode(t, ask(&orchestratorv1.AskStreamRequest{Request: &orchestratorv1.AskRequest{Question: "?",
		Kg: &graphv1.KnowledgeGraphRef{Name: "My Films"}}}), codes.InvalidArgument)
	if !strings.Contains(named.Message(), "request.kg.name: is no name: write") ||
		strings.Contains(named.Message()+detail[*errdetails.BadRequest](named).String(), "a-z") {
		t.Errorf("a name that cannot be: got %v, want how to write it", named)
	}
	st := wantCode(t, ask(&orchestratorv1.AskStreamRequest{Request: &orchestratorv1.AskRequest{}}),
		codes.InvalidArgument)
	wantInfo(t, st, "INVALID_REQUEST", "orchestrator")
	fields := detail[*errdetails.BadRequest](st).GetFieldViolations()
	if len(fields) != 1 || fields[0].GetField() != "request.question" {
		t.Errorf("got violations %v, want one of request.question", fields)
	}
}

// raw sends bytes as they are, as a client in another language may.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return v.([]byte), nil }
func (raw) Unmarshal([]byte, any) error   { return nil }
func (raw) Name() string                  { return "proto" }

// field1 is a message whose field 1 has a short payload.
func field1(payload string) []byte { return append([]byte{1<<3 | 2, byte(len(payload))}, payload...) }

func TestWhatCannotBeDecodedIsTheCallersFault(t *testing.T) {
	r := start(t, "orchestrator", func(s grpc.ServiceRegistrar) {
		answering(echo)(s)
		streaming(func(*orchestratorv1.AskStreamRequest,
			grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
			return nil
		})(s)
	})
	for _, test := range []struct {
		name, method string
		data         []byte
		reason       string
	}{
		{"a question that is not UTF-8", reflectorv1.ReflectorService_Reflect_FullMethodName, field1("caf\xe9"),
			"INVALID_UTF8"},
		{"a question that is not UTF-8, in a stream", orchestratorv1.OrchestratorService_AskStream_FullMethodName,
			field1(string(field1("caf\xe9"))), "INVALID_UTF8"},
		{"bytes that are no message", reflectorv1.ReflectorService_Reflect_FullMethodName, []byte{0xff},
			"MALFORMED_REQUEST"},
		{"bytes that are no message, in a stream", orchestratorv1.OrchestratorService_AskStream_FullMethodName,
			[]byte{0xff}, "MALFORMED_REQUEST"},
	} {
		t.Run(test.name, func(t *testing.T) {
			st := wantCode(t, r.conn.Invoke(t.Context(), test.method, test.data, new(any), grpc.ForceCodec(raw{})),
				codes.InvalidArgument)
			wantInfo(t, st, test.reason, "orchestrator")
		})
	}
	t.Run("a client in Go hears the same", func(t *testing.T) {
		_, err := r.reflect(t.Context(), "caf\xe9")
		if st := wantCode(t, err, codes.InvalidArgument); !strings.Contains(st.Message(), "UTF-8") {
			t.Errorf("got message %q, want the reason in it", st.Message())
		}
	})
	t.Run("the log has them as well", func(t *testing.T) {
		r.stop()
		<-r.stopped
		if n := strings.Count(r.log.String(), `"code":"INVALID_ARGUMENT"`); n != 4 {
			t.Errorf("got %d lines of refused requests, want 4:\n%s", n, r.log)
		}
	})
}

func TestMessagesOverGRPCsDefaultPass(t *testing.T) {
	r := start(t, "reflector",
		answering(func(_ context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			return &reflectorv1.ReflectResponse{Reason: req.GetQuestionVerdict().GetReason()}, nil
		}))
	reason := strings.Repeat("x", 6<<20)
	answer, err := reflectorv1.NewReflectorServiceClient(r.conn).Reflect(t.Context(), &reflectorv1.ReflectRequest{
		Question: "why", QuestionVerdict: &graphv1.QuestionVerdict{Reason: reason},
		Candidates: reflectRequest("why").GetCandidates(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.GetReason(); got != reason {
		t.Errorf("got an answer of %d bytes, want the %d that were sent", len(got), len(reason))
	}
}
