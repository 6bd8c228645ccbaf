package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// domainError chooses its own status, as those of internal/llm do.
type domainError struct {
	text string
	code codes.Code
}

func (e domainError) Error() string              { return "private: " + e.text }
func (e domainError) GRPCStatus() *status.Status { return status.New(e.code, e.text) }

func TestErrorsBecomeStatuses(t *testing.T) {
	detailed, err := status.New(codes.NotFound, "no kg").WithDetails(
		&errdetails.ErrorInfo{Domain: "elsewhere", Reason: "NO_KG"}, &errdetails.ResourceInfo{ResourceName: "wikidata"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		err     error
		code    codes.Code
		reason  string
		message string // a part of it
	}{
		{"a domain error keeps its status", domainError{"no model", codes.Unavailable}, codes.Unavailable,
			"UNAVAILABLE", "no model"},
		{"a wrapped domain error keeps its status", fmt.Errorf("reflect: %w",
			domainError{"spent", codes.ResourceExhausted}), codes.ResourceExhausted, "RESOURCE_EXHAUSTED", "spent"},
		{"a joined domain error keeps its status", errors.Join(errors.New("also"), domainError{"bad", codes.DataLoss}),
			codes.DataLoss, "DATA_LOSS", "bad"},
		{"a domain error that says OK is a mistake", domainError{"fine", codes.OK}, codes.Internal, "INTERNAL",
			"internal error in the reflector"},
		{"an error of a called service keeps its reason", fmt.Errorf("call: %w", detailed.Err()), codes.NotFound,
			"NO_KG", "no kg"},
		{"a cancelled context is CANCELLED", fmt.Errorf("read: %w", context.Canceled), codes.Canceled,
			"CANCELLED", "went away"},
		{"a passed deadline is DEADLINE_EXCEEDED", fmt.Errorf("read: %w", context.DeadlineExceeded),
			codes.DeadlineExceeded, "DEADLINE_EXCEEDED", "deadline"},
		{"anything else is INTERNAL and says no more", errors.New("password of neo4j is x"), codes.Internal, "INTERNAL",
			"internal error in the reflector"},
		{"a message that is no UTF-8 is mended", domainError{"caf\xe9", codes.NotFound}, codes.NotFound,
			"NOT_FOUND", "caf"},
		{"a message too long for a header is cut", domainError{strings.Repeat("é", 1<<20), codes.NotFound},
			codes.NotFound, "NOT_FOUND", "éé"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, "reflector", failing(test.err))
			_, err := r.reflect(t.Context(), "why")
			st := wantCode(t, err, test.code)
			if !strings.Contains(st.Message(), test.message) || len(st.Message()) > 5000 {
				t.Errorf("got message of %d bytes %.200q, want %q in it", len(st.Message()), st.Message(), test.message)
			}
			if strings.Contains(st.Message(), "private") || strings.Contains(st.Message(), "password") {
				t.Errorf("message %q tells what is for the log", st.Message())
			}
			if info := detail[*errdetails.ErrorInfo](st); info.GetReason() != test.reason {
				t.Errorf("got reason %q, want %q", info.GetReason(), test.reason)
			}
		})
	}
}

func TestDetailsSurviveTheHop(t *testing.T) {
	st, err := status.New(codes.NotFound, "no kg").WithDetails(&errdetails.ResourceInfo{ResourceName: "wikidata"})
	if err != nil {
		t.Fatal(err)
	}
	far := start(t, "reflector", failing(st.Err()))
	near := start(t, "orchestrator",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			return far.reflect(ctx, req.GetQuestion())
		}))
	_, err = near.reflect(t.Context(), "why")
	got := wantCode(t, err, codes.NotFound)
	if resource := detail[*errdetails.ResourceInfo](got); resource.GetResourceName() != "wikidata" {
		t.Errorf("got details %v, want the resource info", got.Details())
	}
	wantInfo(t, got, "NOT_FOUND", "reflector")
}

func TestTheLogHasWhatTheCallerDoesNot(t *testing.T) {
	r := start(t, "reflector", failing(errors.New("the disk is full")))
	_, err := r.reflect(t.Context(), "a private question")
	st := wantCode(t, err, codes.Internal)
	r.stop()
	<-r.stopped
	log := r.log.String()
	if !strings.Contains(log, "the disk is full") {
		t.Errorf("the log lacks the cause:\n%s", log)
	}
	if strings.Contains(log, "a private question") {
		t.Errorf("the log has the question:\n%s", log)
	}
	_, id, _ := strings.Cut(st.Message(), "request_id ")
	if id == "" || !strings.Contains(log, `"request_id":"`+id+`"`) || !strings.Contains(log, `"trace_id":"`) {
		t.Errorf("the log lacks the ids of %q:\n%s", st.Message(), log)
	}
}

func TestAPanicEndsOneRequestOnly(t *testing.T) {
	r := start(t, "reflector",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			if req.GetQuestion() == "panic" {
				panic("a secret")
			}
			return echo(ctx, req)
		}))
	_, err := r.reflect(t.Context(), "panic")
	st := wantCode(t, err, codes.Internal)
	wantInfo(t, st, "PANIC", "reflector")
	if strings.Contains(st.Message(), "a secret") {
		t.Errorf("message %q tells the panic", st.Message())
	}
	if answer, err := r.reflect(t.Context(), "still there?"); err != nil || answer.GetReason() != "still there?" {
		t.Errorf("after the panic: got %v, %v", answer, err)
	}
	r.stop()
	<-r.stopped
	if log := r.log.String(); !strings.Contains(log, "a secret") || !strings.Contains(log, "errors_test.go") {
		t.Errorf("the log lacks the panic or its stack:\n%s", log)
	}
}
