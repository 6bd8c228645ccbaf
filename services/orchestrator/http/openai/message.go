package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

const (
	// maxTurns is how many earlier messages accompany the question, for follow-ups.
	maxTurns = 16
	// maxTurnBytes bounds each of them.
	maxTurnBytes = 4096
)

// message is one message of a conversation.
type message struct {
	Role string `json:"role"`
	// Content is a string, or an array of parts.
	Content json.RawMessage `json:"content"`
}

// roles maps the roles of user and assistant. Other messages (system, developer, tool, function)
// are ignored: prompts are the same for every caller.
var roles = map[string]generatorv1.Role{
	"user":      generatorv1.Role_ROLE_USER,
	"assistant": generatorv1.Role_ROLE_ASSISTANT,
	"system":    generatorv1.Role_ROLE_UNSPECIFIED,
	"developer": generatorv1.Role_ROLE_UNSPECIFIED,
	"tool":      generatorv1.Role_ROLE_UNSPECIFIED,
	"function":  generatorv1.Role_ROLE_UNSPECIFIED,
}

// conversation returns the last question and the messages before it.
func conversation(messages []message) (question string, history []*generatorv1.Turn, err error) {
	last := -1
	for i, m := range messages {
		role, ok := roles[m.Role]
		if !ok {
			return "", nil, invalid(fmt.Sprintf("messages[%d].role", i),
				"messages[%d].role: %q is no role; there are user, assistant, system, developer, tool and function", i,
				m.Role)
		}
		if role != generatorv1.Role_ROLE_UNSPECIFIED {
			last = i
		}
	}
	if last < 0 || messages[last].Role != "user" {
		return "", nil, invalid("messages", "messages: the last one must be a user's question")
	}
	question, other, err := messages[last].text()
	param := fmt.Sprintf("messages[%d].content", last)
	switch {
	case err != nil:
		return "", nil, invalid(param, "%s: want a string, or an array of parts", param)
	case other != "":
		return "", nil, invalid(param, "%s: a question is text: a part of type %q cannot be read", param, other)
	case strings.TrimSpace(question) == "":
		return "", nil, invalid(param, "%s: the question is empty", param)
	}
	for _, m := range slices.Backward(messages[:last]) {
		role := roles[m.Role]
		text, _, err := m.text()
		text, _, _ = strings.Cut(text, unconfirmed)
		if text = strings.TrimSpace(text); role == generatorv1.Role_ROLE_UNSPECIFIED || err != nil || text == "" {
			continue
		}
		if len(history) == maxTurns {
			break
		}
		history = append(history, &generatorv1.Turn{Role: role, Text: beginning(text)})
	}
	slices.Reverse(history)
	return question, history, nil
}

// text returns the text of a message; for other parts, the type of the first.
func (m message) text() (text, other string, err error) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return "", "", nil
	}
	if err = json.Unmarshal(m.Content, &text); err == nil {
		return text, "", nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	if err = json.Unmarshal(m.Content, &parts); err != nil {
		return "", "", err
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, p.Text)
		case "refusal":
			texts = append(texts, p.Refusal)
		default:
			other = cmp.Or(other, p.Type)
		}
	}
	return strings.Join(texts, "\n"), other, nil
}

// beginning truncates a text to the length of a turn.
func beginning(text string) string {
	if len(text) <= maxTurnBytes {
		return text
	}
	text = text[:maxTurnBytes]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

// unconfirmed precedes why the triples may not say what an answer claims.
const unconfirmed = "\n\nNot confirmed: "

// contentOf returns the readable answer, or the reason why there is none. Most clients show nothing else,
// so it says too if the answer is RELATED.
func contentOf(run *orchestratorv1.Run) string {
	text := strings.TrimSpace(run.GetText())
	var names []string
	for _, a := range run.GetAnswers() {
		names = append(names, a.GetAnswer())
	}
	if text == "" {
		text = strings.Join(names, ", ")
	}
	switch {
	case text != "" && run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED:
		return text + unconfirmed + run.GetGroundingReason() + "."
	case text != "":
		return text
	case run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNSPECIFIED:
		return "There is no answer: the question was not to be taken so far."
	}
	return "There is no answer: " + run.GetGroundingReason() + "."
}

// remaining returns the rest of an answer after a part was streamed. Streamed text cannot be
// retracted: a different final answer follows as a paragraph of its own.
func remaining(sent, content string) string {
	said := strings.TrimSpace(sent)
	if said == "" {
		return content
	}
	if rest, goesOn := strings.CutPrefix(content, strings.TrimLeftFunc(sent, unicode.IsSpace)); goesOn {
		return rest
	}
	// Reasoning may precede the answer, and a space follow it.
	if before, ends := strings.CutSuffix(said, content); ends && !wordAtEnd(before) {
		return ""
	}
	return "\n\n" + content
}

func wordAtEnd(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// chatRequest holds the supported fields of a request. Sampling fields are ignored: a method has
// its own settings.
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

// readRequest parses a chat request and rejects options that would not be honoured.
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
			return nil, invalid(wrong.Field, "%s: there is a %s where something else is wanted",
				wrong.Field, wrong.Value)
		}
		return nil, invalid("", "the request is no JSON: %v", err)
	}
	switch {
	case req.Model == "":
		return nil, invalid("model", "name a model; GET /v1/models lists them")
	case req.N != nil && *req.N != 1:
		return nil, invalid("n", "a question has one answer: leave n out, or take 1, instead of %d", *req.N)
	case req.ResponseFormat.Type != "" && req.ResponseFormat.Type != "text":
		return nil, invalid("response_format", "answers are text: response_format %q cannot be kept to; what "+
			"programs read is in the field triplemesh", req.ResponseFormat.Type)
	case len(req.Modalities) > 0 && (len(req.Modalities) > 1 || req.Modalities[0] != "text"):
		return nil, invalid("modalities", "answers are text: leave modalities out, or take [\"text\"]")
	case demands(req.ToolChoice):
		return nil, invalid("tool_choice",
			"no model here calls tools: leave tool_choice out, or take \"auto\" or \"none\"")
	case demands(req.FunctionCall):
		return nil, invalid("function_call",
			"no model here calls functions: leave function_call out, or take \"auto\" or \"none\"")
	}
	return req, nil
}

// demands reports whether a tool choice requires a tool call. A model may ignore tools that are
// only offered.
func demands(choice json.RawMessage) bool {
	switch string(bytes.TrimSpace(choice)) {
	case "", "null", `"auto"`, `"none"`:
		return false
	}
	return true
}

// ask returns the AskRequest of a chat request, with a knowledge graph if the request names one.
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

// settle sets the knowledge graph of the model's name; it must not contradict the options.
func settle(ask *orchestratorv1.AskRequest, kg *graphv1.KnowledgeGraphRef) error {
	switch {
	case kg == nil:
	case ask.GetKg() == nil:
		ask.Kg = kg
	case kgtext.FormatKG(ask.GetKg()) != kgtext.FormatKG(kg):
		return invalid("triplemesh.kg", "the model's name says to answer from %s, triplemesh.kg from %s: name one",
			kgtext.FormatKG(kg), kgtext.FormatKG(ask.GetKg()))
	}
	return nil
}
