package openai

import (
	"net/http"
	"net/http/httptest"
	"testing"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Streamed text cannot be retracted.
func TestAnAnswerThatBeginsOtherwiseIsSentWholeAtTheEnd(t *testing.T) {
	w := httptest.NewRecorder()
	s := &speaker{w: w, r: httptest.NewRequest(http.MethodPost, "/v1/chat/completions", nil),
		flush: http.NewResponseController(w)}
	for _, e := range []*orchestratorv1.AskStreamResponse{
		{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{AnswerDelta: "It is Os"}},
		{Event: &orchestratorv1.AskStreamResponse_AnswerRestarted{AnswerRestarted: true}},
		{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{AnswerDelta: "It is "}},
		{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{AnswerDelta: "Bergen."}},
		{Event: &orchestratorv1.AskStreamResponse_Run{Run: &orchestratorv1.Run{Text: "It is Bergen."}}},
	} {
		s.hear(e)
	}
	if got, want := s.sent.String(), "It is Os\n\nIt is Bergen."; got != want {
		t.Errorf("it sent %q, want %q", got, want)
	}
}
