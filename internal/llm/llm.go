// Package llm is the one way to a language model: any endpoint that speaks the
// OpenAI chat completions protocol (OpenAI, vLLM, Ollama, llama-server), with
// retries, fallbacks, a cache, budgets, cost and telemetry. No stage talks HTTP.
package llm

import (
	"context"
	"encoding/json"
)

// Role says who speaks in a conversation.
type Role string

// The roles that every endpoint knows.
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

// Schema constrains an answer to JSON of one shape. Where the endpoint cannot
// do that, the schema is told to the model in words instead.
type Schema struct {
	// Name of the shape: letters, digits, "_" and "-", at most 64.
	Name string
	// JSON is the JSON schema.
	JSON json.RawMessage
}

// Request is one question to a model.
type Request struct {
	// Task is a name of low cardinality for spans and metrics: "pseudo-graph".
	Task string
	// Messages are the conversation, oldest first. Put what never changes first:
	// servers keep a shared beginning in their prompt cache.
	Messages []Message
	// Schema constrains the answer; nil leaves it free text.
	Schema *Schema
	// MaxTokens bounds the answer; 0 leaves it to the endpoint.
	MaxTokens int
	// Temperature of sampling, 0 to 2; 0 takes the likeliest token.
	Temperature float32
	// Seed of sampling. 0 is a seed like any other, so that a run repeats.
	Seed int64
	// Stop ends the answer before any of these texts; OpenAI takes at most 4.
	Stop []string
	// TopLogProbs above 0 asks for the probability of each token, with that many
	// alternatives (OpenAI: at most 20). Response.Tokens stays empty where the
	// endpoint has none to give.
	TopLogProbs int
	// Delta, if set, is called with each piece of text as it arrives, from the
	// goroutine of Complete. A cached answer comes as one piece.
	Delta func(string)
	// Ledger is the budget and usage of this stage call. Required.
	Ledger *Ledger

	// telling is who hands what goes to Delta on, over several attempts.
	telling *telling
	// again is how many of the last messages ask again for an answer that could
	// not be used.
	again int
}

// Response is a model's answer.
type Response struct {
	// Text of the answer, never empty.
	Text string
	// Tokens with their probabilities where TopLogProbs asked for them.
	Tokens []Token
	// FinishReason says why the answer ended: "stop", one of those by which Cut
	// tells that it ended before its end, or what else the endpoint names.
	FinishReason string
	// Model that answered, as the endpoint names it.
	Model string
	// Cached is true when no model was asked.
	Cached bool
	// Usage of the call that made this answer.
	Usage Usage
}

// Token is a piece of an answer and how likely it was.
type Token struct {
	Text string `json:"t"`
	// LogProb is the natural logarithm of the token's probability.
	LogProb float64 `json:"p"`
	// Top are the likeliest tokens at this place, this one among them as a rule.
	Top []Alternative `json:"top,omitempty"`
}

// Alternative is a token that could have stood at a place. Its text is empty
// for the token that ends an answer.
type Alternative struct {
	Text    string  `json:"t"`
	LogProb float64 `json:"p"`
}

// Usage is what one call cost.
type Usage struct {
	PromptTokens     int `json:"prompt"`
	CompletionTokens int `json:"completion"`
	// CostUSD in US dollars by the configured prices; 0 where there are none.
	CostUSD float64 `json:"cost,omitempty"`
	// Estimated is true when the endpoint did not count and lengths were used.
	Estimated bool `json:"estimated,omitempty"`
}

// Completer answers requests. Errors carry a gRPC status; see Error.
type Completer interface {
	// Complete asks a model. When an answer breaks off after pieces of it went to
	// Delta, it is asked for again; what Delta has heard it does not hear twice,
	// and where the second answer is another one, the Response alone holds it.
	// Where that fails too, the error comes with a Response that holds the text so
	// far.
	Complete(ctx context.Context, req Request) (Response, error)
}
