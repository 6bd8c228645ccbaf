package dialect

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// chunk is what servers send: a whole answer or the data of an event.
type chunk struct {
	Model   loose[string]
	Choices loose[[]loose[choice]]
	Usage   *loose[usage]
	Error   json.RawMessage
	// Object is "error" in vLLM's errors, which then are the chunk itself; Detail is FastAPI's.
	Object          loose[string]
	Message, Detail json.RawMessage
	Code            json.RawMessage
}

type choice struct {
	Index          loose[int]
	Message, Delta *message
	// Text is set by servers of plain completions.
	Text     text
	Finish   loose[string] `json:"finish_reason"`
	Logprobs loose[struct{ Content []loose[token] }]
}

type message struct {
	Content, Refusal text
	ReasoningContent text                                        `json:"reasoning_content"`
	Reasoning        text                                        `json:"reasoning"`
	ToolCalls        loose[[]loose[struct{ Function function }]] `json:"tool_calls"`
	FunctionCall     *function                                   `json:"function_call"`
}

type function struct{ Arguments arguments }

type token struct {
	Token   string
	Logprob float64
	Top     []loose[token] `json:"top_logprobs"`
}

type usage struct {
	Prompt     count                `json:"prompt_tokens"`
	Completion count                `json:"completion_tokens"`
	Details    loose[promptDetails] `json:"prompt_tokens_details"`
}

type promptDetails struct {
	Cached count `json:"cached_tokens"`
}

// completion is what is passed on: the first choice alone.
type completion struct {
	Model   string
	Choices []completionChoice
	Usage   *openai.Usage
}

type completionChoice struct {
	Delta  openai.ChatCompletionStreamChoiceDelta
	Tokens []openai.ChatCompletionTokenLogprob
	Finish openai.FinishReason
}

// normalise translates a chunk. Message and delta mean the same, as servers mix them up.
func (c *chunk) normalise() completion {
	out := completion{Model: c.Model.value}
	if c.Usage != nil && (c.Usage.value.Prompt.known || c.Usage.value.Completion.known) {
		out.Usage = &openai.Usage{PromptTokens: c.Usage.value.Prompt.n, CompletionTokens: c.Usage.value.Completion.n}
		if cached := c.Usage.value.Details.value.Cached; cached.known {
			out.Usage.PromptTokensDetails = &openai.PromptTokensDetails{CachedTokens: cached.n}
		}
	}
	if len(c.Choices.value) > 0 {
		out.Choices = make([]completionChoice, 1)
	}
	for _, each := range c.Choices.value {
		first := each.value
		if first.Index.value != 0 {
			continue
		}
		to := &out.Choices[0]
		to.Delta.Content, to.Finish = string(first.Text), openai.FinishReason(first.Finish.value)
		first.Message.addTo(&to.Delta)
		first.Delta.addTo(&to.Delta)
		for _, t := range first.Logprobs.value.Content {
			to.Tokens = append(to.Tokens, t.value.normalise())
		}
		break
	}
	return out
}

func (m *message) addTo(out *openai.ChatCompletionStreamChoiceDelta) {
	if m == nil {
		return
	}
	out.Content += string(m.Content)
	out.ReasoningContent += string(m.ReasoningContent + m.Reasoning)
	out.Refusal += string(m.Refusal)
	called := ""
	for _, c := range m.ToolCalls.value {
		called += string(c.value.Function.Arguments)
	}
	if m.FunctionCall != nil {
		called += string(m.FunctionCall.Arguments)
	}
	if called != "" {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{Function: openai.FunctionCall{Arguments: called}})
	}
}

func (t token) normalise() openai.ChatCompletionTokenLogprob {
	out := openai.ChatCompletionTokenLogprob{Token: t.Token, Logprob: t.Logprob}
	for _, a := range t.Top {
		out.TopLogprobs = append(out.TopLogprobs,
			openai.ChatCompletionTokenLogprobTopLogprob{Token: a.value.Token, Logprob: a.value.Logprob})
	}
	return out
}

// merger merges the chunks of a stream into one completion.
type merger struct {
	completion
	content, reasoning, refusal strings.Builder
}

func (c *merger) add(next completion) {
	if next.Model != "" {
		c.Model = next.Model
	}
	if next.Usage != nil {
		c.Usage = next.Usage
	}
	for _, from := range next.Choices {
		if len(c.Choices) == 0 {
			c.Choices = make([]completionChoice, 1)
		}
		to := &c.Choices[0]
		c.content.WriteString(from.Delta.Content)
		c.reasoning.WriteString(from.Delta.ReasoningContent)
		c.refusal.WriteString(from.Delta.Refusal)
		to.Delta.ToolCalls = append(to.Delta.ToolCalls, from.Delta.ToolCalls...)
		to.Tokens = append(to.Tokens, from.Tokens...)
		if from.Finish != "" {
			to.Finish = from.Finish
		}
	}
}

func (c *merger) result() completion {
	if len(c.Choices) > 0 {
		delta := &c.Choices[0].Delta
		delta.Content, delta.ReasoningContent, delta.Refusal = c.content.String(), c.reasoning.String(),
			c.refusal.String()
	}
	return c.completion
}

func (c *completion) finished() bool { return len(c.Choices) > 0 && c.Choices[0].Finish != "" }

// encode returns the completion as JSON, as a chunk of a stream or as a whole answer.
func (c *completion) encode(streamed bool) []byte {
	type logprobs struct {
		Content []openai.ChatCompletionTokenLogprob `json:"content"`
	}
	type encodedChoice struct {
		Index   int                                     `json:"index"`
		Delta   *openai.ChatCompletionStreamChoiceDelta `json:"delta,omitempty"`
		Message *openai.ChatCompletionStreamChoiceDelta `json:"message,omitempty"`
		// The library's own type of a finish reason does not escape it.
		Finish   string    `json:"finish_reason"`
		Logprobs *logprobs `json:"logprobs,omitempty"`
	}
	out := struct {
		Model   string          `json:"model"`
		Choices []encodedChoice `json:"choices"`
		Usage   *openai.Usage   `json:"usage,omitempty"`
	}{c.Model, []encodedChoice{}, c.Usage}
	for _, each := range c.Choices {
		e := encodedChoice{Finish: string(each.Finish)}
		if streamed {
			e.Delta = &each.Delta
		} else {
			e.Message = &each.Delta
		}
		if each.Tokens != nil {
			e.Logprobs = &logprobs{each.Tokens}
		}
		out.Choices = append(out.Choices, e)
	}
	data, err := json.Marshal(out)
	if err != nil { // cannot happen: it holds strings and finite numbers
		return []byte("{}")
	}
	return data
}

// loose is the zero value for JSON of another type.
type loose[T any] struct{ value T }

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (l *loose[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		l.value = v
	}
	return nil
}

// text is a string, null, or an array of parts that contain texts.
type text string

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (t *text) UnmarshalJSON(data []byte) error {
	var parts loose[[]loose[struct{ Text string }]]
	var whole loose[string]
	_ = whole.UnmarshalJSON(data)
	_ = parts.UnmarshalJSON(data)
	*t = text(whole.value)
	for _, p := range parts.value {
		*t += text(p.value.Text)
	}
	return nil
}

// arguments are a string that contains JSON or, in Ollama's dialect, the JSON itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler. It never fails.
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
	n     int
	known bool
}

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (c *count) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err == nil && !math.IsNaN(f) {
		c.n, c.known = int(min(max(f, math.MinInt32), math.MaxInt32)), true
	}
	return nil
}

// NormaliseError translates the body of an error response to OpenAI's form. A body that is not
// JSON becomes the message.
func NormaliseError(body []byte) []byte {
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\xef\xbb\xbf")))
	e := &openai.APIError{Message: string(body)}
	var c chunk
	if json.Unmarshal(body, &c) == nil {
		if reported := c.apiError(); reported != nil {
			e = reported
		}
	}
	data, err := json.Marshal(openai.ErrorResponse{Error: e})
	if err != nil { // cannot happen: it holds strings
		return nil
	}
	return data
}

func (c *chunk) check() (*chunk, error) {
	if e := c.apiError(); e != nil {
		return nil, e
	}
	return c, nil
}

// apiError returns the error that a chunk reports, nil if none: a text (Ollama, LM Studio), an
// object (OpenAI, llama-server, OpenRouter), or the chunk itself (vLLM, FastAPI). Its Code is a
// string, and its HTTPStatusCode is 0 unless the code is one of HTTP.
func (c *chunk) apiError() *openai.APIError {
	var in struct {
		Message, Type, Code json.RawMessage
	}
	switch {
	case isSet(c.Error):
		if json.Unmarshal(c.Error, &in) != nil || !isSet(in.Message) {
			return &openai.APIError{Message: textOf(c.Error), HTTPStatusCode: statusOf(c.Code)}
		}
	case c.Object.value == "error":
		in.Message, in.Code = c.Message, c.Code
	case isSet(c.Detail) && len(c.Choices.value) == 0:
		in.Message = c.Detail
	default:
		return nil
	}
	e := &openai.APIError{Message: textOf(in.Message), Type: textOf(in.Type), HTTPStatusCode: statusOf(in.Code)}
	if code := textOf(in.Code); code != "" {
		e.Code = code
	}
	return e
}

func isSet(v json.RawMessage) bool {
	s := string(v)
	return s != "" && s != "null" && s != "false" && s != `""`
}

// textOf returns a JSON string's value, or other JSON unchanged.
func textOf(v json.RawMessage) string {
	var s string
	if len(v) > 0 && json.Unmarshal(v, &s) != nil {
		s = string(v)
	}
	if s == "null" {
		return ""
	}
	return s
}

// statusOf returns the HTTP status that a number or a text is, 0 if none.
func statusOf(v json.RawMessage) int {
	n, err := strconv.Atoi(textOf(v))
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}
