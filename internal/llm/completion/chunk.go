// Package completion reads chat completions as servers send them: whole, or as
// server-sent events, in the dialects of OpenAI, vLLM, llama-server, Ollama, LM
// Studio and OpenRouter. What a server says in a wrong type is as if it had not
// said it; only bytes that hold no completion at all are an error.
package completion

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Chunk is a piece of a completion; a whole one is a single piece.
type Chunk struct {
	Model string
	// Choices says how many there were: none in a chunk that only counts.
	Choices int
	// Text and Reasoning are what the model says, and what it thinks aloud before.
	Text, Reasoning string
	// Refusal is a refusal of the model's own that stands in a field for it.
	Refusal string
	// Calls are the arguments of tools that it wants to be called.
	Calls  string
	Tokens []Token
	// Finish is why the answer ended; empty where it goes on.
	Finish string
	// Usage is nil where the server did not count.
	Usage *Usage
}

// Token is a token with the natural logarithm of its probability, and the
// likeliest ones at its place.
type Token struct {
	Text    string
	LogProb float64
	Top     []Token
}

// Usage is what a server says it counted: any number at all.
type Usage struct{ Prompt, Completion int64 }

// chunk is the shape on the wire, of whole answers and of events.
type chunk struct {
	Model   loose[string]
	Choices loose[[]loose[choice]]
	Usage   *loose[usage]
	Error   json.RawMessage
	// Object is "error" in vLLM's errors, which then stand in the chunk itself;
	// Detail is FastAPI's.
	Object          loose[string]
	Message, Detail json.RawMessage
	Code            json.RawMessage
}

type choice struct {
	Index          loose[int]
	Message, Delta *message
	// Text is what servers of plain completions send.
	Text     text
	Finish   loose[string] `json:"finish_reason"`
	Logprobs loose[struct{ Content []loose[token] }]
}

type message struct {
	Content, Refusal text
	Reasoning        text                                        `json:"reasoning_content"`
	Thought          text                                        `json:"reasoning"`
	Calls            loose[[]loose[struct{ Function function }]] `json:"tool_calls"`
	Call             *function                                   `json:"function_call"`
}

type function struct{ Arguments arguments }

type token struct {
	Token   string
	Logprob float64
	Top     []loose[token] `json:"top_logprobs"`
}

type usage struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
}

// chunk is what a piece says. Of several answers the first is taken.
func (c *chunk) chunk() Chunk {
	out := Chunk{Model: c.Model.of, Choices: len(c.Choices.of)}
	if c.Usage != nil && (c.Usage.of.Prompt.known || c.Usage.of.Completion.known) {
		out.Usage = &Usage{c.Usage.of.Prompt.n, c.Usage.of.Completion.n}
	}
	for _, each := range c.Choices.of {
		one := each.of
		if one.Index.of != 0 {
			continue
		}
		out.Text, out.Finish = string(one.Text), one.Finish.of
		for _, m := range []*message{one.Message, one.Delta} {
			m.into(&out)
		}
		for _, t := range one.Logprobs.of.Content {
			out.Tokens = append(out.Tokens, t.of.token())
		}
		break
	}
	return out
}

func (m *message) into(out *Chunk) {
	if m == nil {
		return
	}
	out.Text += string(m.Content)
	out.Reasoning += string(m.Reasoning + m.Thought)
	out.Refusal += string(m.Refusal)
	for _, c := range m.Calls.of {
		out.Calls += string(c.of.Function.Arguments)
	}
	if m.Call != nil {
		out.Calls += string(m.Call.Arguments)
	}
}

func (t token) token() Token {
	out := Token{Text: t.Token, LogProb: t.Logprob}
	for _, a := range t.Top {
		out.Top = append(out.Top, Token{Text: a.of.Token, LogProb: a.of.Logprob})
	}
	return out
}

// loose takes a value of another type for none.
type loose[T any] struct{ of T }

// UnmarshalJSON implements json.Unmarshaler. It takes everything.
func (l *loose[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		l.of = v
	}
	return nil
}

// text is a string, null, or an array of parts that hold texts.
type text string

// UnmarshalJSON implements json.Unmarshaler. It takes everything.
func (t *text) UnmarshalJSON(data []byte) error {
	var parts loose[[]loose[struct{ Text string }]]
	var whole loose[string]
	_ = whole.UnmarshalJSON(data)
	_ = parts.UnmarshalJSON(data)
	*t = text(whole.of)
	for _, p := range parts.of {
		*t += text(p.of.Text)
	}
	return nil
}

// arguments are a string that holds JSON or, as Ollama's, the JSON itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler. It takes everything.
func (a *arguments) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) != nil {
		s = string(data)
	}
	*a = arguments(s)
	return nil
}

// count is a number in any spelling: 7, 7.0, "7".
type count struct {
	n     int64
	known bool
}

// UnmarshalJSON implements json.Unmarshaler. It takes everything.
func (c *count) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err == nil && !math.IsNaN(f) {
		c.n, c.known = int64(min(max(f, math.MinInt32), math.MaxInt32)), true
	}
	return nil
}
