package openai

import (
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// FuzzRequest parses arbitrary bodies: accepted requests are valid protobuf, rejected ones have a
// message.
func FuzzRequest(f *testing.F) {
	f.Add(`{"model":"triplemesh/pg-akv","messages":[{"role":"user","content":"who?"}]}`)
	f.Add(
		`{"model":"x","messages":[{"role":"system","content":"s"},
			{"role":"assistant","content":[{"type":"text","text":"a"}]},
			{"role":"user","content":[{"type":"image_url"}]}]}`)
	f.Add(
		`{"model":"x","messages":[{"role":"user","content":"\ud800?"}],
			"triplemesh":{"kg":"a@1","otherKgs":["b"],"options":{"maxHops":3}}}`)
	f.Add(`{"n":1,"tool_choice":{"a":[]},"response_format":{"type":"text"},"stream_options":{"include_usage":true}}`)
	f.Fuzz(func(t *testing.T, body string) {
		req, err := readRequest(httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body)))
		var ask *orchestratorv1.AskRequest
		if err == nil {
			ask, err = req.ask(model{method: &orchestratorv1.Method{Name: "pg-akv"}})
		}
		if err != nil {
			if f := failureOf(err); f.status != 400 || f.Message == "" || !utf8.ValidString(string(f.body())) {
				t.Errorf("%q is refused with %d: %s", body, f.status, f.body())
			}
			return
		}
		if _, err := proto.Marshal(ask); err != nil || strings.TrimSpace(ask.GetQuestion()) == "" ||
			len(ask.GetHistory()) > maxTurns {
			t.Errorf("%q became %v: %v", body, ask, err)
		}
		for _, turn := range ask.GetHistory() {
			if len(turn.GetText()) > maxTurnBytes || turn.GetText() == "" {
				t.Errorf("%q has a turn of %d bytes", body, len(turn.GetText()))
			}
		}
	})
}
