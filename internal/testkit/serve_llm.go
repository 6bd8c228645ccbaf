package testkit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
)

// ServeHTTP answers /v1/chat/completions and /v1/models.
func (m *LLM) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	switch hr.URL.Path {
	case "/v1/models":
		reply(w, http.StatusOK, map[string]any{"object": "list",
			"data": []any{map[string]any{"id": "scripted", "object": "model"}}})
	case "/v1/chat/completions":
		m.complete(w, hr)
	default:
		fail(w, http.StatusNotFound, "File Not Found")
	}
}

func (m *LLM) complete(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // the client is gone
	}
	req, err := parse(hr.Header, body)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if f := m.lacking(req); f != "" {
		fail(w, http.StatusBadRequest, f)
		return
	}
	s, ok := m.step(req)
	if !ok {
		m.tb.Errorf("the scripted model has no rule for task %q, last user message %q", req.Task, req.LastUser())
		fail(w, http.StatusBadRequest, "the script has no rule for this request")
		return
	}
	if s.delay > 0 {
		timer := time.NewTimer(s.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-hr.Context().Done():
			return
		case <-m.ended:
			return
		}
	}
	switch {
	case s.serve != nil:
		s.serve(w, hr, req)
	case req.Stream:
		s.replyStream(w, req)
	default:
		s.replyWhole(w, req)
	}
}

// lacking records and words the refusal of a feature the server was told to
// lack.
func (m *LLM) lacking(r Request) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.lacks {
		if r.uses(f) {
			m.record(r)
			if f == "max_tokens" {
				return "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
			}
			return fmt.Sprintf("Unsupported parameter: '%s'", f)
		}
	}
	return ""
}

// replyWhole answers in one piece.
func (s step) replyWhole(w http.ResponseWriter, r Request) {
	text := s.text(r)
	choice := map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text},
		"finish_reason": s.finishReason()}
	if len(s.tokens) > 0 && r.TopLogProbs > 0 {
		choice["logprobs"] = logprobs(s.tokens)
	}
	out := map[string]any{"id": "scripted", "object": "chat.completion", "model": r.Model, "choices": []any{choice}}
	if u := s.usageOf(r, text); u != nil {
		out["usage"] = u
	}
	reply(w, http.StatusOK, out)
}

// replyStream answers piece by piece.
func (s step) replyStream(w http.ResponseWriter, r Request) {
	out := newStream(w, r)
	text := s.text(r)
	for i, p := range s.cut(text) {
		var tokens []llm.Token
		if i < len(s.tokens) && r.TopLogProbs > 0 {
			tokens = s.tokens[i : i+1]
		}
		out.piece(p, tokens)
	}
	out.send(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{},
		"finish_reason": s.finishReason()}}})
	if _, asked := r.Fields["stream_options"]; asked {
		if u := s.usageOf(r, text); u != nil {
			out.send(map[string]any{"choices": []any{}, "usage": u})
		}
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

func (s step) finishReason() string {
	if s.finish != "" {
		return s.finish
	}
	return "stop"
}

// usageOf counts words unless the script says otherwise.
func (s step) usageOf(r Request, text string) map[string]any {
	prompt, completion := 0, len(strings.Fields(text))
	for _, m := range r.Messages {
		prompt += len(strings.Fields(m.Content))
	}
	if s.usage != nil {
		prompt, completion = s.usage.PromptTokens, s.usage.CompletionTokens
	}
	if prompt < 0 || completion < 0 {
		return nil
	}
	return map[string]any{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
}

// stream writes server-sent events.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	model string
}

func newStream(w http.ResponseWriter, r Request) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{w: w, flush: http.NewResponseController(w), model: r.Model}
	s.send(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"role": "assistant",
		"content": nil}, "finish_reason": nil}}})
	return s
}

func (s *stream) piece(text string, tokens []llm.Token) {
	c := map[string]any{"index": 0, "delta": map[string]any{"content": text}, "finish_reason": nil}
	if len(tokens) > 0 {
		c["logprobs"] = logprobs(tokens)
	}
	s.send(map[string]any{"choices": []any{c}})
}

func (s *stream) send(event map[string]any) {
	event["object"], event["model"] = "chat.completion.chunk", s.model
	data, err := json.Marshal(event)
	if err != nil {
		return
	}
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	s.flush.Flush()
}

func logprobs(tokens []llm.Token) map[string]any {
	content := make([]any, len(tokens))
	for i, t := range tokens {
		top := []any{}
		for _, a := range t.Top {
			top = append(top, map[string]any{"token": a.Text, "logprob": a.LogProb, "bytes": nil})
		}
		content[i] = map[string]any{"token": t.Text, "logprob": t.LogProb, "bytes": nil, "top_logprobs": top}
	}
	return map[string]any{"content": content}
}

func fail(w http.ResponseWriter, code int, message string) {
	reply(w, code, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error",
		"code": code}})
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(v)
}
