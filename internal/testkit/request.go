package testkit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm"
)

// Request is what a client asked a scripted server.
type Request struct {
	// Task of the llm.Request, from the User-Agent header.
	Task        string
	Model       string
	Messages    []llm.Message
	Schema      *llm.Schema // of response_format json_schema
	Format      string      // response_format's type; empty without one
	MaxTokens   int         // by either of its names
	Temperature *float64    // nil when not sent
	Seed        *int64      // nil when not sent
	Stop        []string
	TopLogProbs int
	Stream      bool
	Header      http.Header
	// Fields are the request as it came.
	Fields map[string]json.RawMessage
}

// LastUser is the text of the last message that a user said.
func (r Request) LastUser() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == llm.RoleUser {
			return m.Content
		}
	}
	return ""
}

// Matcher reports whether a rule applies to a request.
type Matcher func(Request) bool

// Task matches the task of an llm.Request.
func Task(name string) Matcher { return func(r Request) bool { return r.Task == name } }

// SchemaNamed matches requests that are constrained by a schema of that name.
func SchemaNamed(name string) Matcher {
	return func(r Request) bool { return r.Schema != nil && r.Schema.Name == name }
}

// Contains matches a part of the last user message.
func Contains(part string) Matcher {
	return func(r Request) bool { return strings.Contains(r.LastUser(), part) }
}

// Matches matches the last user message against a regular expression.
func Matches(expr string) Matcher {
	re := regexp.MustCompile(expr)
	return func(r Request) bool { return re.MatchString(r.LastUser()) }
}

// parse reads a request's body.
func parse(header http.Header, body []byte) (Request, error) {
	var in struct {
		Model     string
		Messages  []llm.Message
		MaxTokens int `json:"max_tokens"`
		NewTokens int `json:"max_completion_tokens"`

		Temperature *float64
		Seed        *int64
		Stop        []string
		Stream      bool
		TopLogProbs int `json:"top_logprobs"`
		Format      struct {
			Type   string
			Schema *struct {
				Name   string
				Schema json.RawMessage
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	r := Request{Header: header}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, fmt.Errorf("scripted model: %w", err)
	}
	if err := json.Unmarshal(body, &r.Fields); err != nil {
		return r, fmt.Errorf("scripted model: %w", err)
	}
	_, r.Task, _ = strings.Cut(header.Get("User-Agent"), "triplemesh/")
	r.Model, r.Messages, r.MaxTokens = in.Model, in.Messages, max(in.MaxTokens, in.NewTokens)
	r.Temperature, r.Seed, r.Stop, r.Stream, r.TopLogProbs = in.Temperature, in.Seed, in.Stop, in.Stream, in.TopLogProbs
	r.Format = in.Format.Type
	if s := in.Format.Schema; s != nil {
		r.Schema = &llm.Schema{Name: s.Name, JSON: s.Schema}
	}
	return r, nil
}

// uses reports whether a request uses a feature; see LLM.Lacks.
func (r Request) uses(feature string) bool {
	switch feature {
	case "json_schema", "json_object":
		return r.Format == feature
	case "streaming":
		return r.Stream
	default:
		_, ok := r.Fields[feature]
		return ok
	}
}
