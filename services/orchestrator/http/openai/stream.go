package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// chunk is a piece of a streamed answer.
type chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []chunkChoice `json:"choices"`
	Usage   *usage        `json:"usage,omitempty"`
	// Triplemesh is an AskStreamResponse of the contract: a stage that began or
	// ended or, in the last chunk with a choice, the run.
	Triplemesh json.RawMessage `json:"triplemesh,omitempty"`
}

type chunkChoice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Role        string       `json:"role,omitempty"`
	Content     *string      `json:"content,omitempty"`
	Annotations []annotation `json:"annotations,omitempty"`
}

// received is an event of a run, or the error that ended it.
type received struct {
	event *orchestratorv1.AskStreamResponse
	err   error
}

// stream responds in chunks. A failure before the first event has an HTTP status; a later one ends
// the stream with an error.
func (d *handler) stream(w http.ResponseWriter, r *http.Request, req *chatRequest,
	ask *orchestratorv1.AskRequest) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events, err := d.orchestrator.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: ask})
	if err != nil {
		return err
	}
	first, err := events.Recv()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies hold back what they buffer
	s := &speaker{
		w: w, r: r, flush: http.NewResponseController(w), usage: req.StreamOptions.IncludeUsage,
		like: chunk{ID: idOf(ulid.Make().String()), Object: "chat.completion.chunk", Created: time.Now().Unix(),
			Model: req.Model},
	}
	s.say(delta{Role: "assistant", Content: new("")}, nil)
	s.hear(first)
	coming := receive(ctx, events)
	heartbeat := time.NewTicker(d.heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-heartbeat.C:
			// A chunk, because some clients cannot parse comments.
			s.say(delta{}, nil)
		case next := <-coming:
			switch {
			case errors.Is(next.err, io.EOF):
				s.line("[DONE]")
				return nil
			case next.err != nil:
				s.line(string(failureOf(next.err).body()))
				return nil
			}
			s.hear(next.event)
			heartbeat.Reset(d.heartbeat)
		}
	}
}

// receive passes events on until the stream or ctx ends.
func receive(ctx context.Context, events grpc.ServerStreamingClient[orchestratorv1.AskStreamResponse]) <-chan received {
	out := make(chan received)
	go func() {
		for {
			event, err := events.Recv()
			select {
			case out <- received{event, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// speaker writes an answer as server-sent events.
type speaker struct {
	w     http.ResponseWriter
	r     *http.Request
	flush *http.ResponseController
	like  chunk // what all chunks have
	usage bool  // whether to send the cost
	sent  strings.Builder
	// waits is set when streamed text cannot be continued: the rest follows at the end.
	waits bool
}

// hear handles an event.
func (s *speaker) hear(e *orchestratorv1.AskStreamResponse) {
	switch e.GetEvent().(type) {
	case *orchestratorv1.AskStreamResponse_AnswerDelta:
		if !s.waits {
			s.write(e.GetAnswerDelta())
		}
	case *orchestratorv1.AskStreamResponse_AnswerRestarted:
		s.waits = true
	case *orchestratorv1.AskStreamResponse_StageStarted, *orchestratorv1.AskStreamResponse_StageFinished:
		s.say(delta{}, event(e))
	case *orchestratorv1.AskStreamResponse_Run:
		s.end(e)
	}
}

// write sends a piece of the answer.
func (s *speaker) write(piece string) {
	if piece == "" {
		return
	}
	s.sent.WriteString(piece)
	s.say(delta{Content: &piece}, nil)
}

// end sends the rest of the answer, and its evidence.
func (s *speaker) end(e *orchestratorv1.AskStreamResponse) {
	run := e.GetRun()
	content := contentOf(run)
	s.write(remaining(s.sent.String(), content))
	last := s.like
	last.Choices = []chunkChoice{{Delta: delta{Annotations: annotate(s.sent.String(), run, pageOf(s.r, run))},
		FinishReason: new("stop")}}
	cost := usageOf(run.GetUsage())
	last.Triplemesh = event(e)
	s.chunk(last)
	if s.usage {
		last = s.like
		last.Choices, last.Usage = []chunkChoice{}, cost
		s.chunk(last)
	}
}

func (s *speaker) say(d delta, event json.RawMessage) {
	c := s.like
	c.Choices, c.Triplemesh = []chunkChoice{{Delta: d}}, event
	s.chunk(c)
}

func (s *speaker) chunk(c chunk) {
	if text, err := json.Marshal(c); err == nil { // structs of strings and numbers are always JSON
		s.line(string(text))
	}
}

// line sends one event. Write errors are ignored: a disconnect ends the request's context and so
// the stream.
func (s *speaker) line(data string) {
	_, _ = io.WriteString(s.w, "data: "+data+"\n\n")
	_ = s.flush.Flush()
}

// completion is a non-streamed response.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	// Triplemesh is an AskStreamResponse of the contract: the run.
	Triplemesh json.RawMessage `json:"triplemesh"`
}

type choice struct {
	Index        int          `json:"index"`
	Message      responseText `json:"message"`
	LogProbs     *float64     `json:"logprobs"` // always null
	FinishReason string       `json:"finish_reason"`
}

// responseText is the assistant's message.
type responseText struct {
	Role        string       `json:"role"`
	Content     string       `json:"content"`
	Refusal     *string      `json:"refusal"` // always null
	Annotations []annotation `json:"annotations"`
}

// usage sums all model calls.
type usage struct {
	PromptTokens     uint64 `json:"prompt_tokens"`
	CompletionTokens uint64 `json:"completion_tokens"`
	TotalTokens      uint64 `json:"total_tokens"`
}

func usageOf(u *llmv1.Usage) *usage {
	return &usage{u.GetPromptTokens(), u.GetCompletionTokens(), u.GetPromptTokens() + u.GetCompletionTokens()}
}

// idOf returns a completion's id; the part after the dash is the run id.
func idOf(run string) string { return "chatcmpl-" + run }

// complete answers POST /v1/chat/completions.
func (d *handler) complete(w http.ResponseWriter, r *http.Request) error {
	req, err := readRequest(r)
	if err != nil {
		return err
	}
	m, err := d.model(r.Context(), req.Model)
	if err != nil {
		return err
	}
	ask, err := req.ask(m)
	if err != nil {
		return err
	}
	if ask.Kg == nil && m.method.GetNeedsKg() {
		if ask.Kg, err = d.onlyKG(r.Context(), m); err != nil {
			return err
		}
	}
	if req.Stream {
		return d.stream(w, r, req, ask)
	}
	resp, err := d.orchestrator.Ask(r.Context(), ask)
	if err != nil {
		return err
	}
	run := resp.GetRun()
	content := contentOf(run)
	annotations := annotate(content, run, pageOf(r, run))
	return send(w, completion{
		ID: idOf(run.GetId()), Object: "chat.completion", Created: run.GetStartTime().GetSeconds(), Model: req.Model,
		Choices: []choice{{Message: responseText{Role: "assistant", Content: content, Annotations: annotations},
			FinishReason: "stop"}},
		Usage:      usageOf(run.GetUsage()),
		Triplemesh: event(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_Run{Run: run}}),
	})
}

// event returns the run as an AskStreamResponse, as the REST API sends it, without the intermediate
// graphs: they are many times as long as the answer and can be read with the run.
func event(e *orchestratorv1.AskStreamResponse) json.RawMessage {
	if run := e.GetRun(); run != nil {
		run.Graphs, run.Spans = nil, nil
	}
	if finished := e.GetStageFinished(); finished != nil {
		finished.Run = nil
	}
	text, err := protojson.Marshal(e)
	if err != nil { // what came over gRPC is valid
		return nil
	}
	return text
}

// send responds with JSON.
func send(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n')) // to a caller that may be gone
	return nil
}
