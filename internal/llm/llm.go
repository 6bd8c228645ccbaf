// Package llm calls language models: any endpoint that speaks the OpenAI chat completions protocol
// (OpenAI, vLLM, Ollama, llama-server), with retries, fallbacks, a cache, budgets, cost and
// telemetry. No stage talks HTTP.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// Role is the author of a message.
type Role string

// Roles that every endpoint supports.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    Role
	Content string
}

// Schema constrains an answer to JSON of one shape. If the endpoint does not support that, the
// schema becomes part of the prompt.
type Schema struct {
	// Name of the schema: letters, digits, "_" and "-", at most 64.
	Name string
	// JSON is the JSON schema.
	JSON json.RawMessage
}

// Request is one call of a model.
type Request struct {
	// Task names the purpose in spans and metrics, with low cardinality: "pseudo-graph".
	Task string
	// Messages are the conversation, oldest first. Put constant text first: servers keep a shared
	// beginning in their prompt cache.
	Messages []Message
	// Schema constrains the answer; nil leaves it free text.
	Schema *Schema
	// MaxTokens bounds the answer; 0 means the default of the endpoint.
	MaxTokens int
	// Temperature of sampling, 0 to 2; 0 takes the most likely token.
	Temperature float32
	// Seed of sampling. 0 is a seed like any other, so that a run repeats.
	Seed int64
	// Stop ends the answer before any of these texts; OpenAI takes at most 4.
	Stop []string
	// TopLogProbs above 0 requests the probability of each token, with that many alternatives
	// (OpenAI: at most 20). Response.Tokens is empty if the endpoint does not support it.
	TopLogProbs int
	// Delta, if set, is called with each piece of text as it arrives, from the goroutine of
	// Complete. A cached answer is one piece.
	Delta func(string)
	// Ledger holds the budget and usage of the stage call. Required.
	Ledger *Ledger

	// merger passes the answer of several attempts on to Delta.
	merger *deltaMerger
	// retryMessages is how many of the last messages ask again after an unusable answer.
	retryMessages int
}

// Response is a model's answer.
type Response struct {
	// Text of the answer, never empty.
	Text string
	// Tokens with their probabilities, if TopLogProbs requested them.
	Tokens []Token
	// FinishReason is why the answer ended: "stop", one of the Finish constants, or another reason
	// of the endpoint's.
	FinishReason string
	// Model that answered, by the name that the endpoint uses.
	Model string
	// Cached reports whether the answer comes from the cache.
	Cached bool
	// Usage of the call that generated the answer.
	Usage Usage
}

// Token is a token of an answer and its probability.
type Token struct {
	Text string `json:"t"`
	// LogProb is the natural logarithm of the token's probability.
	LogProb float64 `json:"p"`
	// Top are the most likely tokens at this position, usually including this one.
	Top []Alternative `json:"top,omitempty"`
}

// Alternative is another token for a position. Its text is empty for the token that ends an answer.
type Alternative struct {
	Text    string  `json:"t"`
	LogProb float64 `json:"p"`
}

// Usage is what one call cost.
type Usage struct {
	PromptTokens     int `json:"prompt"`
	CompletionTokens int `json:"completion"`
	// ReusedTokens are those of the prompt that the server had evaluated before.
	ReusedTokens int `json:"reused,omitempty"`
	// CostUSD in US dollars by the configured prices; 0 if the model has none.
	CostUSD float64 `json:"cost,omitempty"`
	// Estimated reports whether the tokens were estimated, as the endpoint did not count them.
	Estimated bool `json:"estimated,omitempty"`
}

// Completer answers requests. Errors carry a gRPC status; see Error.
type Completer interface {
	// Complete calls a model. If an answer breaks off after pieces of it went to Delta, the call is
	// retried; Delta does not receive a piece twice, and if the second answer is different, it is
	// only in the Response. If the retry fails too, the error comes with a Response that holds the
	// text so far.
	Complete(ctx context.Context, req Request) (Response, error)
}

// minStreamedTokens is the answer length from which on answers are streamed although no caller
// listens: one that loops can then be aborted before it has cost all of its tokens.
const minStreamedTokens = 128

// wireRequest returns the request as the protocol has it.
func (e *endpoint) wireRequest(req Request, model string, t traits) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: model, Stop: req.Stop, ReasoningEffort: e.cfg.ReasoningEffort}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content})
	}
	most := req.MaxTokens
	if most > 0 && (t.newTokenLimit || t.thinks) {
		most += e.cfg.ReasoningTokens
	}
	if t.newTokenLimit {
		out.MaxCompletionTokens = most
	} else {
		//lint:ignore SA1019 the new field is OpenAI's alone; small servers know this one
		out.MaxTokens = most
	}
	if !t.noTemperature {
		out.Temperature = req.Temperature // the transport adds 0
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
	if wantsStream(req) && !t.noStream {
		out.Stream = true
		if !t.noStreamUsage {
			out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		}
	}
	return out
}

func wantsStream(req Request) bool {
	return req.Delta != nil || req.MaxTokens == 0 || req.MaxTokens >= minStreamedTokens
}

// constrain asks for JSON, as strictly as the endpoint supports.
func constrain(out *openai.ChatCompletionRequest, s Schema, f format) {
	switch f {
	case formatSchema:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: s.Name, Schema: s.JSON,
				Strict: isStrict(s)},
		}
		return
	case formatObject:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	words := "Answer with one JSON value that fits this JSON schema, and with nothing else:\n" + string(s.JSON)
	// At the end, so that the beginning of the prompt stays cached.
	if last := len(out.Messages) - 1; last >= 0 && out.Messages[last].Role == openai.ChatMessageRoleUser {
		out.Messages[last].Content += "\n\n" + words
		return
	}
	out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: words})
}

// isStrict reports whether OpenAI's strict mode accepts a schema; it refuses the request otherwise.
// Other servers ignore the flag.
func isStrict(s Schema) bool {
	parsed, err := parseSchema(s.JSON)
	return err == nil && parsed.strict()
}

// call sends the request once and reads the answer. An interrupted answer returns the text so far
// with an error.
func (e *endpoint) call(ctx context.Context, req Request, model string, t traits, x *exchange) (Response, error) {
	x.task, x.zeroTemperature = req.Task, req.Temperature == 0 && !t.noTemperature
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	r := newReader(e, req, model, x.prompt)
	wire := e.wireRequest(req, model, t)
	if !wire.Stream {
		whole, err := e.client.CreateChatCompletion(ctx, wire)
		if err == nil {
			err = r.add(wholeDelta(whole))
		}
		return r.finish(err)
	}
	stream, err := e.client.CreateChatCompletionStream(ctx, wire)
	if err != nil {
		return Response{}, err
	}
	defer stream.Close()
	for err == nil {
		var chunk openai.ChatCompletionStreamResponse
		if chunk, err = stream.Recv(); err == nil {
			err = r.add(streamDelta(chunk))
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return r.finish(err)
}

const (
	// maxTemplateTokens is what chat templates and providers may add to a prompt.
	maxTemplateTokens = 4096
	// maxUnboundedTokens is the length of an answer without a limit.
	maxUnboundedTokens = 1 << 20
)

// plausibleUsage returns the server's token counts, or an estimate if they are missing or
// impossible: negative, or more than the texts and their limits allow. A wrong count must neither
// exhaust nor extend a budget.
func plausibleUsage(req Request, resp Response, reasoningTokens int) Usage {
	u := resp.Usage
	bytes := 0
	for _, m := range req.Messages {
		bytes += len(m.Content)
	}
	answer := maxUnboundedTokens
	if req.MaxTokens > 0 {
		answer = max(req.MaxTokens, len(resp.Text)) + reasoningTokens + maxTemplateTokens
	}
	impossible := u.PromptTokens < 0 || u.CompletionTokens < 0 || u.PromptTokens > bytes+maxTemplateTokens ||
		u.CompletionTokens > answer
	if impossible || u.PromptTokens+u.CompletionTokens == 0 {
		u = estimateUsage(req.Messages, 0)
		u.CompletionTokens = countTokens(resp.Text)
	}
	return u
}

// estimateUsage estimates the tokens of a call.
func estimateUsage(messages []Message, maxTokens int) Usage {
	u := Usage{CompletionTokens: maxTokens, Estimated: true}
	for _, m := range messages {
		u.PromptTokens += countTokens(m.Content) + 4 // role and markers
	}
	return u
}

// countTokens estimates four bytes a token, the average of English text.
func countTokens(text string) int { return (len(text) + 3) / 4 }

// deltaMerger passes an answer on to a caller over several attempts: text that an earlier attempt
// emitted is not repeated. If a later attempt diverges, nothing more is emitted, and the caller
// takes the answer from the Response.
type deltaMerger struct {
	emit     func(string)
	emitted  string
	position int  // of the attempt within emitted
	diverged bool // the attempt says something else
}

// startAttempt returns the Delta of the next attempt; without a merger, the request's own.
func (m *deltaMerger) startAttempt(own func(string)) func(string) {
	if m == nil {
		return own
	}
	m.position, m.diverged = 0, false
	return m.add
}

func (m *deltaMerger) add(piece string) {
	if m.diverged {
		return
	}
	known := m.emitted[m.position:]
	m.position += len(piece)
	if !strings.HasPrefix(piece, known) {
		m.diverged = !strings.HasPrefix(known, piece)
		return
	}
	if piece = piece[len(known):]; piece != "" {
		m.emitted += piece
		m.emit(piece)
	}
}
