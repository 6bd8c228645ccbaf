package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// chatRequest is what is read of a request. Its other fields say how a language
// model is to sample, and are left alone: a method has settings of its own.
type chatRequest struct {
	Model         string    `json:"model"`
	Messages      []message `json:"messages"`
	Stream        bool      `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	N              *int `json:"n"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Modalities   []string        `json:"modalities"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	FunctionCall json.RawMessage `json:"function_call"`
	Triplemesh   json.RawMessage `json:"triplemesh"`
}

// readRequest reads a chat request and refuses what would be answered in
// another way than it asks for.
func readRequest(r *http.Request) (*chatRequest, error) {
	body, err := io.ReadAll(r.Body)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, &failure{status: http.StatusRequestEntityTooLarge, Type: invalidRequest, Code: "request_too_large",
			Message: fmt.Sprintf("the request has more than %d bytes", large.Limit)}
	}
	if err != nil {
		return nil, invalid("", "the request could not be read: %v", err)
	}
	req := &chatRequest{}
	if err := json.Unmarshal(body, req); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return nil, invalid(wrong.Field, "%s: there is a %s where something else is wanted", wrong.Field, wrong.Value)
		}
		return nil, invalid("", "the request is no JSON: %v", err)
	}
	switch {
	case req.Model == "":
		return nil, invalid("model", "name a model; GET /v1/models lists them")
	case req.N != nil && *req.N != 1:
		return nil, invalid("n", "a question has one answer: leave n out, or take 1, instead of %d", *req.N)
	case req.ResponseFormat.Type != "" && req.ResponseFormat.Type != "text":
		return nil, invalid("response_format", "answers are text: response_format %q cannot be kept to; what programs read is in the field triplemesh", req.ResponseFormat.Type)
	case len(req.Modalities) > 0 && (len(req.Modalities) > 1 || req.Modalities[0] != "text"):
		return nil, invalid("modalities", "answers are text: leave modalities out, or take [\"text\"]")
	case demands(req.ToolChoice):
		return nil, invalid("tool_choice", "no model here calls tools: leave tool_choice out, or take \"auto\" or \"none\"")
	case demands(req.FunctionCall):
		return nil, invalid("function_call", "no model here calls functions: leave function_call out, or take \"auto\" or \"none\"")
	}
	return req, nil
}

// demands tells whether a choice of tools insists on one. Where tools are only
// offered, a model may do without.
func demands(choice json.RawMessage) bool {
	switch string(bytes.TrimSpace(choice)) {
	case "", "null", `"auto"`, `"none"`:
		return false
	}
	return true
}

// ask makes the question of a request. It has a knowledge graph where the
// request names one.
func (req *chatRequest) ask(m model) (*orchestratorv1.AskRequest, error) {
	ask, err := readOptions(req.Triplemesh)
	if err != nil {
		return nil, err
	}
	ask.Method = m.method.GetName()
	if err := settle(ask, m.kg); err != nil {
		return nil, err
	}
	ask.Question, ask.History, err = conversation(req.Messages)
	return ask, err
}

// settle takes the knowledge graph of a model's name, unless the request's own
// options say the same.
func settle(ask *orchestratorv1.AskRequest, kg *graphv1.KnowledgeGraphRef) error {
	switch {
	case kg == nil:
	case ask.GetKg() == nil:
		ask.Kg = kg
	case reference(ask.GetKg()) != reference(kg):
		return invalid("triplemesh.kg", "the model's name says to answer from %s, triplemesh.kg from %s: name one", reference(kg), reference(ask.GetKg()))
	}
	return nil
}
