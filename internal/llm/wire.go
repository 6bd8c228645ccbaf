package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"github.com/triplemesh/triplemesh/internal/llm/schema"
)

// reasoningTokens is what a model that thinks first may use for that, on top of
// the answer's tokens: its one limit counts both.
const reasoningTokens = 2048

// errNoStream: asked to stream, the endpoint answered in one piece.
var errNoStream = errors.New("endpoint does not stream")

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
		out.Temperature = req.Temperature // 0 is added by the exchange
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
	return out
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

// send asks once and reads the answer. A stream that broke off returns what
// came, with an error.
func (e *endpoint) send(ctx context.Context, req Request, model string, t traits) (Response, error) {
	wire := e.wire(req, model, t)
	if req.Delta != nil && !t.noStream {
		wire.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		if t.noStreamUsage {
			wire.StreamOptions = nil
		}
		return e.stream(ctx, wire, req.Delta)
	}
	got, err := e.client.CreateChatCompletion(ctx, wire)
	if err != nil {
		return Response{}, err
	}
	resp := Response{Model: got.Model, Usage: Usage{PromptTokens: got.Usage.PromptTokens, CompletionTokens: got.Usage.CompletionTokens}}
	if len(got.Choices) == 0 {
		return resp, failf(ErrUnavailable, "call the model at %s: the answer holds no choice; check that llm.base_url is an OpenAI-compatible endpoint", e.name).again()
	}
	c := got.Choices[0]
	resp.Text, resp.FinishReason = c.Message.Content, string(c.FinishReason)
	for _, part := range c.Message.MultiContent {
		resp.Text += part.Text
	}
	if c.LogProbs != nil {
		for _, p := range c.LogProbs.Content {
			tok := Token{Text: p.Token, LogProb: p.LogProb}
			for _, a := range p.TopLogProbs {
				tok.Top = append(tok.Top, Alternative{Text: a.Token, LogProb: a.LogProb})
			}
			resp.Tokens = append(resp.Tokens, tok)
		}
	}
	if err := refused(e.name, resp, c.Message.Refusal); err != nil {
		return resp, err
	}
	if req.Delta != nil && resp.Text != "" {
		req.Delta(resp.Text)
	}
	return resp, nil
}

// refused tells a model's own refusal and a provider's filter.
func refused(at string, resp Response, refusal string) error {
	if refusal != "" {
		return failf(ErrUnusable, "call the model at %s: the model refuses to answer", at)
	}
	if resp.FinishReason == string(openai.FinishReasonContentFilter) {
		return failf(ErrUnusable, "call the model at %s: the provider's content filter withheld the answer", at)
	}
	return nil
}

// stream reads an answer piece by piece.
func (e *endpoint) stream(ctx context.Context, wire openai.ChatCompletionRequest, delta func(string)) (Response, error) {
	var resp Response
	s, err := e.client.CreateChatCompletionStream(ctx, wire)
	if err != nil {
		return resp, err
	}
	defer s.Close()
	var text strings.Builder
	var refusal string
	for {
		piece, err := s.Recv()
		resp.Text = text.String()
		// Once it said why it ended, an answer is whole, however the stream ends.
		if errors.Is(err, io.EOF) || (err != nil && resp.FinishReason != "") {
			break
		}
		if err != nil {
			return resp, err
		}
		if piece.Model != "" {
			resp.Model = piece.Model
		}
		if u := piece.Usage; u != nil {
			resp.Usage = Usage{PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens}
		}
		for _, c := range piece.Choices {
			if c.Index != 0 {
				continue
			}
			resp.Tokens = append(resp.Tokens, streamedTokens(c.Logprobs)...)
			refusal += c.Delta.Refusal
			if c.FinishReason != "" {
				resp.FinishReason = string(c.FinishReason)
			}
			if c.Delta.Content != "" {
				text.WriteString(c.Delta.Content)
				delta(c.Delta.Content)
			}
		}
	}
	// The library ends a stream alike whether it is whole or cut; a whole one
	// says why it ended.
	if resp.FinishReason == "" {
		if text.Len() == 0 && contentType(ctx) != "text/event-stream" {
			return resp, &Error{kind: ErrUnavailable, cause: errNoStream, retryable: true,
				what: fmt.Sprintf("call the model at %s: not a stream; set llm.capabilities.streaming to no if the endpoint cannot stream", e.name)}
		}
		return resp, io.ErrUnexpectedEOF
	}
	return resp, refused(e.name, resp, refusal)
}

func streamedTokens(l *openai.ChatCompletionStreamChoiceLogprobs) []Token {
	if l == nil {
		return nil
	}
	var out []Token
	for _, p := range l.Content {
		tok := Token{Text: p.Token, LogProb: p.Logprob}
		for _, a := range p.TopLogprobs {
			tok.Top = append(tok.Top, Alternative{Text: a.Token, LogProb: a.Logprob})
		}
		out = append(out, tok)
	}
	return out
}

// strict tells whether OpenAI's strict mode would take a schema; it refuses the
// request otherwise. Other servers do not look.
func strict(s Schema) bool {
	parsed, err := schema.Parse(s.JSON)
	return err == nil && parsed.Strict()
}
