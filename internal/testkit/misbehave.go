package testkit

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Warned is what the responses of stages that use a model have in common.
type Warned interface{ GetWarnings() []*llmv1.Warning }

// misbehaviours are what model servers do wrong, and the code in which a call
// that depends on the model ends; OK means that the stage goes on with less and
// says so in a warning.
var misbehaviours = []struct {
	name   string
	script func(*Rule)
	code   codes.Code
}{
	{"a model server that is down is UNAVAILABLE", func(r *Rule) { r.Down() }, codes.Unavailable},
	{"a model server that is too slow is DEADLINE_EXCEEDED", func(r *Rule) { r.Hang() }, codes.DeadlineExceeded},
	{"too many requests are RESOURCE_EXHAUSTED", func(r *Rule) { r.Status(429) }, codes.ResourceExhausted},
	{"a broken model server is UNAVAILABLE", func(r *Rule) { r.Status(500) }, codes.Unavailable},
	{"a refused key is FAILED_PRECONDITION", func(r *Rule) { r.Status(401) }, codes.FailedPrecondition},
	{"a web page is UNAVAILABLE", func(r *Rule) { r.HTML() }, codes.Unavailable},
	{"an answer without a choice is UNAVAILABLE", func(r *Rule) { r.EmptyChoices() }, codes.Unavailable},
	{"half a response is UNAVAILABLE", func(r *Rule) { r.HalfJSON() }, codes.Unavailable},
	{"a server killed in mid-answer is UNAVAILABLE", func(r *Rule) { r.CutStream("{", "Par") }, codes.Unavailable},
	{"an empty answer is gone on without", func(r *Rule) { r.NullContent() }, codes.OK},
	{"bytes that are no text are gone on without", func(r *Rule) { r.Reply("\x01\x02 \ufffd\n\n\n") }, codes.OK},
	{"half a JSON is gone on without", func(r *Rule) { r.Reply(`{"`).Finish("length") }, codes.OK},
	{"another language is gone on without", func(r *Rule) {
		r.Reply("申し訳ありませんが、その質問にはお答えできません。別の質問をしていただければ、喜んでお手伝いいたします。どうぞよろしくお願いいたします。")
	}, codes.OK},
}

// Misbehave lets the model server do wrong in every way, for each of which it
// makes a call that needs the model, and checks that the call ends, and how: in
// the right gRPC code, or with a warning. A call must end by the deadline of
// its context.
func (m *LLM) Misbehave(t *testing.T, call func(context.Context) (Warned, error)) {
	t.Helper()
	for _, c := range misbehaviours {
		t.Run(c.name, func(t *testing.T) {
			c.script(m.On())
			patience := patience
			if c.code == codes.DeadlineExceeded {
				patience = 200 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			resp, err := call(ctx)
			switch {
			case status.Code(err) != c.code:
				t.Errorf("got %v, want %v", err, c.code)
			case err == nil && len(resp.GetWarnings()) == 0:
				t.Errorf("it went on without a warning: %v", resp)
			case err != nil && status.Convert(err).Message() == "":
				t.Error("the error says nothing")
			}
		})
	}
}
