package testkit

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/llm"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Warned is what the responses of stages that use a model have in common.
type Warned interface {
	proto.Message
	GetWarnings() []*llmv1.Warning
	GetUsage() *llmv1.Usage
}

const (
	// shortDeadline is how long a call waits for a model server that never answers.
	shortDeadline = 150 * time.Millisecond
	// maxSentBytes is what a server may get rid of before its client has enough: the
	// 4 MiB that a client reads of an answer, and what kernels take on both sides,
	// which may be 36 MiB more.
	maxSentBytes = 48 << 20
)

// Misbehaviours are the fixtures of what model servers do wrong.
func Misbehaviours(tb testing.TB) []Misbehaviour {
	tb.Helper()
	all, err := allMisbehaviours()
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// Misbehave plays a fixture. What the answer would be says the rule that goes
// before it.
func (r *Rule) Misbehave(f Misbehaviour) *Rule {
	return r.fault(func(w http.ResponseWriter, _ *http.Request, req Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			r.llm.tb.Errorf("play %s: %v", f.Name, err)
			return
		}
		asked := misbehaviourCall{Stream: req.Stream, Model: req.Model, Question: req.LastUser(),
			Answer: r.llm.correctAnswer(req)}
		for _, m := range req.Messages {
			asked.Prompt += string(m.Role) + ": " + m.Content + "\n"
			if m.Role == llm.RoleSystem {
				asked.System = m.Content
			}
		}
		if sent := f.Play(conn, asked, r.llm.ended); sent > maxSentBytes {
			r.llm.tb.Errorf("%s: %d bytes were taken, want at most %d", f.Name, sent, maxSentBytes)
		}
	})
}

// correctAnswer is what the first rule says to a request that does nothing wrong.
func (m *LLM) correctAnswer(req Request) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, rule := range slices.Backward(m.rules) {
		if i := slices.IndexFunc(rule.steps, func(s step) bool { return s.text != nil }); i >= 0 && rule.matches(req) {
			return rule.steps[i].text(req)
		}
	}
	return "Yes."
}

// Drop takes a rule out of the script.
func (m *LLM) Drop(r *Rule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules = slices.DeleteFunc(m.rules, func(other *Rule) bool { return other == r })
}

// sampleRate is one in how many fixtures a call takes: neighbouring calls take others,
// so that a stage meets all of them. MISBEHAVIOURS=all has every call meet all.
func sampleRate() int {
	if os.Getenv("MISBEHAVIOURS") == "all" {
		return 1
	}
	return 4
}

// Misbehave lets the model server do wrong in every way, for each of which it
// makes a call that needs the model, and checks how it ends: in time, in a way
// that the fixture knows, with nothing of the prompt in it and with a usage that
// can be. The script says what the server answers when it does nothing wrong.
func (m *LLM) Misbehave(t *testing.T, call func(context.Context) (Warned, error)) {
	t.Helper()
	right, err := call(t.Context())
	if err != nil || len(right.GetWarnings()) > 0 {
		t.Fatalf("a model that does nothing wrong gave %v, %v", right, err)
	}
	want := textOf(right)
	m.mu.Lock()
	turn := m.turns
	m.turns++
	m.mu.Unlock()
	for i, f := range Misbehaviours(t) {
		if i%sampleRate() != turn%sampleRate() {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			asked := len(m.Requests())
			rule := m.On().Misbehave(f)
			defer m.Drop(rule)
			patience := patience
			if f.Has("DEADLINE_EXCEEDED") {
				patience = shortDeadline
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			got, err := call(ctx)
			end := nameOutcome(got, err, want)
			if !f.Has(end) && !(end == "answered" && f.Has("warned")) {
				t.Errorf("%s: it is %s (%v, %v), want %s", f.About, end, got, err, strings.Join(f.Ends, " or "))
			}
			checkReadable(t, err)
			checkNoLeak(t, m.Requests()[asked:], got, err)
			if err == nil {
				checkUsage(t, got.GetUsage(), len(m.Requests())-asked)
			}
		})
	}
}

// nameOutcome names how a call ended.
func nameOutcome(got Warned, err error, want string) string {
	switch {
	case err != nil:
		return strings.ToUpper(codeName(status.Code(err)))
	case len(got.GetWarnings()) > 0:
		return "warned"
	case textOf(got) == want:
		return "answered"
	}
	return "answered otherwise"
}

// codeName is a code as the protocol spells it.
func codeName(c codes.Code) string {
	var b strings.Builder
	for i, r := range c.String() {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// checkReadable looks whether an error is for people: some words, and no bytes of
// a server's.
func checkReadable(t *testing.T, err error) {
	t.Helper()
	text := status.Convert(err).Message()
	if err != nil && (text == "" || len(text) > 4096 || strings.ContainsAny(text, "\x00\x07\x1b\n")) {
		t.Errorf("the error is %q", text)
	}
}

// checkNoLeak looks for instructions of a model in what came of a call.
func checkNoLeak(t *testing.T, asked []Request, got Warned, err error) {
	t.Helper()
	all := strings.Join(strings.Fields(cmp.Or(status.Convert(err).Message(), textOf(got)+warningsOf(got))), " ")
	for _, r := range asked {
		for _, m := range r.Messages {
			const row = 80
			for text := strings.Join(strings.Fields(m.Content), " "); m.Role == llm.RoleSystem &&
				len(text) >= row; text = text[10:] {
				if strings.Contains(all, text[:row]) {
					t.Errorf("it tells %q: %s", text[:row], all)
					return
				}
			}
		}
	}
}

func warningsOf(got Warned) string {
	var all strings.Builder
	for _, w := range got.GetWarnings() {
		all.WriteString(" " + w.GetMessage())
	}
	return all.String()
}

// checkUsage looks whether what is said to be spent can be.
func checkUsage(t *testing.T, u *llmv1.Usage, asked int) {
	t.Helper()
	if int(u.GetCalls()) > asked || u.GetPromptTokens() > 100_000 || u.GetCompletionTokens() > 100_000 ||
		u.GetCostUsd() != 0 {
		t.Errorf("%d requests were used as %v", asked, u)
	}
	for _, name := range u.GetModels() {
		if len(name) > 128 || strings.ContainsAny(name, "\x07") {
			t.Errorf("a model is named %.200q", name)
		}
	}
}
