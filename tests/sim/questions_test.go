package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// question is a question in a simulation.
type question struct {
	method string
	about  person
	// calls is the budget, 0 for none.
	calls uint32
	// streamed questions use AskStream.
	streamed bool
	// at is when it is asked, and within its deadline.
	at, within time.Duration
	// leaves is when its caller cancels, 0 for never.
	leaves time.Duration
}

func (q question) String() string {
	text := fmt.Sprintf("%s about %s", q.method, q.about.name)
	if q.calls > 0 {
		text += fmt.Sprintf(" within %d calls", q.calls)
	}
	if q.streamed {
		text += ", streamed"
	}
	return text
}

// request returns the request. It names no snapshot, so that the active one is read.
func (q question) request() *orchestratorv1.AskRequest {
	req := &orchestratorv1.AskRequest{
		Question: "What institution employed " + q.about.name + "?", Method: q.method,
		Kg: &graphv1.KnowledgeGraphRef{Name: kg}, Options: &orchestratorv1.AskOptions{NoRecord: true},
	}
	if q.method == "ger" {
		req.Question = "At which university did the director of the film " + q.about.film + " study?"
		req.TopicEntities = []string{q.about.film}
	}
	if q.calls > 0 {
		req.Limits = &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: q.calls}}
	}
	return req
}

// outcome is how a question ended.
type outcome struct {
	question
	run         *orchestratorv1.Run
	err         error
	asked, took time.Duration
	// text is the streamed part of the answer.
	text string
}

// ask asks a question and waits for it to end.
func (m *mesh) ask(ctx context.Context, q question) outcome {
	ctx, cancel := context.WithTimeout(ctx, q.within)
	defer cancel()
	if q.leaves > 0 {
		leave := time.AfterFunc(q.leaves, cancel)
		defer leave.Stop()
	}
	began := time.Now()
	o := outcome{question: q, asked: q.at}
	if q.streamed {
		o.run, o.text, o.err = m.stream(ctx, q)
	} else {
		var resp *orchestratorv1.AskResponse
		resp, o.err = m.caller.Ask(ctx, q.request())
		o.run = resp.GetRun()
	}
	o.took = time.Since(began)
	return o
}

// stream asks by AskStream.
func (m *mesh) stream(ctx context.Context, q question) (run *orchestratorv1.Run, text string, err error) {
	stream, err := m.caller.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: q.request()})
	if err != nil {
		return nil, "", err
	}
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return run, text, nil
		}
		if err != nil {
			return nil, text, err
		}
		if event.GetAnswerRestarted() {
			text = ""
		}
		text += event.GetAnswerDelta()
		if event.GetRun() != nil {
			run = event.GetRun()
		}
	}
}
