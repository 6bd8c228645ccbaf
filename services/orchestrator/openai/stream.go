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

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// chunk is a piece of an answer that is streamed.
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

// received is an event of a run, or why there are no more.
type received struct {
	event *orchestratorv1.AskStreamResponse
	err   error
}

// stream answers piece by piece. What goes wrong before the first event has an
// HTTP status; later, the stream ends in an error.
func (d *door) stream(w http.ResponseWriter, r *http.Request, req *chatRequest, ask *orchestratorv1.AskRequest) error {
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
		like: chunk{ID: idOf(ulid.Make().String()), Object: "chat.completion.chunk", Created: time.Now().Unix(), Model: req.Model},
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
			// A chunk, since comments are more than some clients' parsers take.
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

// receive hands on what comes, until it ends or ctx does.
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
	usage bool  // whether the cost is to be told
	sent  strings.Builder
	// waits says that what was sent cannot be gone on with, nor be taken back:
	// the rest is left to the end.
	waits bool
}

// hear tells of an event.
func (s *speaker) hear(e *orchestratorv1.AskStreamResponse) {
	switch e.GetEvent().(type) {
	case *orchestratorv1.AskStreamResponse_AnswerDelta:
		if !s.waits {
			s.write(unbraced.Replace(e.GetAnswerDelta()))
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

// end sends what is left of the answer, and what it rests on.
func (s *speaker) end(e *orchestratorv1.AskStreamResponse) {
	run := e.GetRun()
	content := contentOf(run)
	s.write(remaining(s.sent.String(), content))
	last := s.like
	last.Choices = []chunkChoice{{Delta: delta{Annotations: annotate(s.sent.String(), run, pageOf(s.r, run))}, FinishReason: new("stop")}}
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

// line sends one event. A caller that went away ends the request's context,
// which ends the stream, so what writing says of that need not be looked at.
func (s *speaker) line(data string) {
	_, _ = io.WriteString(s.w, "data: "+data+"\n\n")
	_ = s.flush.Flush()
}
