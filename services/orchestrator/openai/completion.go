package openai

import (
	"encoding/json"
	"net/http"

	"google.golang.org/protobuf/encoding/protojson"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// completion is an answer in one piece.
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
	Index        int      `json:"index"`
	Message      said     `json:"message"`
	LogProbs     *float64 `json:"logprobs"` // always null
	FinishReason string   `json:"finish_reason"`
}

// said is what the assistant says.
type said struct {
	Role        string       `json:"role"`
	Content     string       `json:"content"`
	Refusal     *string      `json:"refusal"` // always null
	Annotations []annotation `json:"annotations"`
}

// usage is what the answer cost: all calls of language models together.
type usage struct {
	PromptTokens     uint64 `json:"prompt_tokens"`
	CompletionTokens uint64 `json:"completion_tokens"`
	TotalTokens      uint64 `json:"total_tokens"`
}

func usageOf(u *llmv1.Usage) *usage {
	return &usage{u.GetPromptTokens(), u.GetCompletionTokens(), u.GetPromptTokens() + u.GetCompletionTokens()}
}

// idOf is a completion's id: its run can be read by what follows the dash.
func idOf(run string) string { return "chatcmpl-" + run }

// complete answers POST /v1/chat/completions.
func (d *door) complete(w http.ResponseWriter, r *http.Request) error {
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
		if ask.Kg, err = d.only(r.Context(), m); err != nil {
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
		ID: idOf(run.GetId()), Object: "chat.completion", Created: run.GetStarted().GetSeconds(), Model: req.Model,
		Choices:    []choice{{Message: said{Role: "assistant", Content: content, Annotations: annotations}, FinishReason: "stop"}},
		Usage:      usageOf(run.GetUsage()),
		Triplemesh: event(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_Run{Run: run}}),
	})
}

// event is what the contract says of an answer, as the REST door says it too.
// The graphs on the way stay where the run is kept: they are many times as long
// as the answer.
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

// send answers with a value as JSON.
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
