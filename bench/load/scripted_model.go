package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// ScriptedModel is a model server that takes as long as it is told and answers as many requests at
// once: what a mesh can do under load is then the mesh's own doing.
type ScriptedModel struct {
	// Latency is how long each answer takes.
	Latency time.Duration
	// Capacity is how many answers are worked on at once; others wait in line, as
	// they do at a real server. 0 sets no bound.
	Capacity int
	places   chan struct{}
}

// Serve listens at a free loopback port until stop is called, and returns the
// base URL.
func (m *ScriptedModel) Serve() (url string, stop func() error, err error) {
	if m.Capacity > 0 {
		m.places = make(chan struct{}, m.Capacity)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for the scripted model: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": "scripted", "object": "model"}}})
	})
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	s := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }() // it ends by stop
	return "http://" + l.Addr().String() + "/v1", s.Close, nil
}

// request is what of a chat completion is looked at.
type request struct {
	Model    string
	Stream   bool
	Messages []struct{ Content string }
}

func (m *ScriptedModel) complete(w http.ResponseWriter, r *http.Request) {
	var req request
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Messages) == 0 {
		http.Error(w, "want a chat completion", http.StatusBadRequest)
		return
	}
	if !m.work(r.Context()) {
		return
	}
	_, task, _ := strings.Cut(r.UserAgent(), "triplemesh/")
	text := reply(task, req.Messages[len(req.Messages)-1].Content)
	words := len(strings.Fields(text))
	usage := map[string]any{"prompt_tokens": 1, "completion_tokens": words, "total_tokens": words + 1}
	if !req.Stream {
		answer(w, map[string]any{
			"id": "scripted", "object": "chat.completion", "model": req.Model, "usage": usage,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
				"message": map[string]any{"role": "assistant", "content": text}}},
		})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	piece, err := json.Marshal(map[string]any{
		"object": "chat.completion.chunk", "model": req.Model, "usage": usage,
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
			"delta": map[string]any{"role": "assistant", "content": text}}},
	})
	if err == nil {
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", piece)
	}
}

// work waits for a place and takes the time of an answer; false where the caller
// went away.
func (m *ScriptedModel) work(ctx context.Context) bool {
	if m.places != nil {
		select {
		case m.places <- struct{}{}:
			defer func() { <-m.places }()
		case <-ctx.Done():
			return false
		}
	}
	timer := time.NewTimer(m.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the caller went away
}
