package llm

import (
	"bytes"
	"context"
	"encoding/json"

	openai "github.com/sashabaranov/go-openai"

	"github.com/triplemesh/triplemesh/internal/llm/schema"
)

const (
	// reasoningTokens is what a model that thinks first may use for that, on top
	// of the answer's tokens: its one limit counts both.
	reasoningTokens = 2048
	// longAnswer is from how many tokens on an answer is streamed although nobody
	// listens: one that loops can then be ended before it has cost all of them.
	longAnswer = 128
)

// wire makes the protocol's request.
func (e *endpoint) wire(req Request, model string, t traits) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: model, Stop: req.Stop, ReasoningEffort: e.cfg.ReasoningEffort}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content})
	}
	if t.newTokenLimit {
		if req.MaxTokens > 0 {
			out.MaxCompletionTokens = req.MaxTokens + reasoningTokens
		}
	} else {
		//lint:ignore SA1019 the new field is OpenAI's alone; small servers know this one
		out.MaxTokens = req.MaxTokens
	}
	if !t.noTemperature {
		out.Temperature = req.Temperature // 0 is added by body
	}
	if !t.noSeed {
		seed := int(req.Seed)
		out.Seed = &seed
	}
	if req.TopLogProbs > 0 && !t.noLogProbs {
		out.LogProbs, out.TopLogProbs = true, req.TopLogProbs
	}
	if req.Schema != nil {
		constrain(&out, *req.Schema, t.format)
	}
	if streams(req) && !t.noStream {
		out.Stream = true
		if !t.noStreamUsage {
			out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		}
	}
	return out
}

// streams tells whether an answer is to come in pieces.
func streams(req Request) bool {
	return req.Delta != nil || req.MaxTokens == 0 || req.MaxTokens >= longAnswer
}

// body is a request as it is sent. The library leaves a temperature of 0 out, so
// that servers would sample with a default of their own (0.8 in llama-server).
func body(wire openai.ChatCompletionRequest, zeroTemperature bool) ([]byte, error) {
	if err := openai.NewReasoningValidator().Validate(wire); err != nil {
		return nil, err
	}
	out, err := json.Marshal(wire)
	if err == nil && zeroTemperature {
		out = append([]byte(`{"temperature":0,`), bytes.TrimPrefix(out, []byte("{"))...)
	}
	return out, err
}

// constrain asks for JSON, as tightly as the endpoint can.
func constrain(out *openai.ChatCompletionRequest, s Schema, f format) {
	switch f {
	case formatSchema:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: s.Name, Schema: s.JSON, Strict: strict(s)},
		}
		return
	case formatObject:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	words := "Answer with one JSON value that fits this JSON schema, and with nothing else:\n" + string(s.JSON)
	// Behind everything else, so that the prompt's beginning stays cached.
	if last := len(out.Messages) - 1; last >= 0 && out.Messages[last].Role == openai.ChatMessageRoleUser {
		out.Messages[last].Content += "\n\n" + words
		return
	}
	out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: words})
}

// strict tells whether OpenAI's strict mode would take a schema; it refuses the
// request otherwise. Other servers do not look.
func strict(s Schema) bool {
	parsed, err := schema.Parse(s.JSON)
	return err == nil && parsed.Strict()
}

// send asks once and reads the answer. One that broke off returns what came,
// with an error.
func (e *endpoint) send(ctx context.Context, req Request, model string, t traits, x *exchange) (Response, error) {
	wire := e.wire(req, model, t)
	out, err := body(wire, req.Temperature == 0 && !t.noTemperature)
	if err != nil {
		return Response{}, err
	}
	// What comes after the end of an answer is not waited for long.
	ctx, end := context.WithCancel(ctx)
	defer end()
	in, err := e.wireClient.post(ctx, out, req.Task, wire.Stream, e.cfg.MaxResponseBytes, x)
	if err != nil {
		return Response{}, err
	}
	defer in.Close()
	r := newReading(e, req, model, x.told, end)
	return r.read(in)
}
