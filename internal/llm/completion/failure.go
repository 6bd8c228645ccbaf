package completion

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Failure is an error that a server told: as the body of a status, in place of
// a completion, or in the middle of one.
type Failure struct {
	// Status by its code; 0 where it gives none that is one of HTTP.
	Status int
	// Message is the server's own, untrusted.
	Message string
	// Kind is its type and code: "insufficient_quota", "rate_limit_exceeded 429".
	Kind string
}

// Error implements error.
func (f *Failure) Error() string { return "the server says: " + f.Message }

// ParseFailure reads the body of an error, whatever its form; a body that is no
// JSON is the message.
func ParseFailure(body []byte) *Failure {
	var c chunk
	if json.Unmarshal(trimmed(body), &c) == nil {
		if f := c.failure(); f != nil {
			return f
		}
	}
	return &Failure{Message: string(body)}
}

// failure is what a chunk says went wrong; nil where nothing did. An error is a
// text (Ollama, LM Studio) or an object (OpenAI, llama-server, OpenRouter), or
// the chunk itself (vLLM, FastAPI).
func (c *chunk) failure() *Failure {
	var in struct {
		Message, Type, Code json.RawMessage
	}
	switch {
	case isSaid(c.Error):
		if json.Unmarshal(c.Error, &in) != nil || !isSaid(in.Message) {
			return &Failure{Message: words(c.Error), Status: status(c.Code)}
		}
	case c.Object.of == "error":
		in.Message, in.Code = c.Message, c.Code
	case isSaid(c.Detail) && len(c.Choices.of) == 0:
		in.Message = c.Detail
	default:
		return nil
	}
	return &Failure{Message: words(in.Message), Status: status(in.Code), Kind: strings.TrimSpace(words(in.Type) + " " + words(in.Code))}
}

func isSaid(v json.RawMessage) bool {
	s := string(v)
	return s != "" && s != "null" && s != "false" && s != `""`
}

// words are a string, or anything else as it stands.
func words(v json.RawMessage) string {
	var s string
	if len(v) > 0 && json.Unmarshal(v, &s) != nil {
		s = string(v)
	}
	if s == "null" {
		return ""
	}
	return s
}

// status is a code that is one of HTTP, as a number or a text.
func status(v json.RawMessage) int {
	n, err := strconv.Atoi(words(v))
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// NoCompletion is bytes that are none.
type NoCompletion struct {
	// Page says that they are a web page.
	Page bool
	// Cause is what is wrong with them.
	Cause error
}

// Error implements error.
func (n *NoCompletion) Error() string {
	if n.Page {
		return "a web page instead of a completion"
	}
	return fmt.Sprintf("no completion: %v", n.Cause)
}

// Unwrap gives the cause.
func (n *NoCompletion) Unwrap() error { return n.Cause }
