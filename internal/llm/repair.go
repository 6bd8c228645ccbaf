package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// errNoJSON is returned for text that contains nothing like the requested JSON.
var errNoJSON = errors.New("no JSON in the text")

var (
	anyFencePattern = regexp.MustCompile("(?s)```[a-zA-Z0-9]*[ \t]*\r?\n?(.*?)(?:```|$)")
	thinkPattern    = regexp.MustCompile(`(?s)^\s*<think>.*?</think>`)
)

// maxStarts bounds how many brackets are tried as the start of a value; prose contains brackets, too.
const maxStarts = 16

// extractJSON returns the first JSON value in a text, valid or repaired, that fits, or else the first
// one. Code fences and prose around it are skipped. Open is '{' for an object, '[' for an array and 0
// for either; a nil fits accepts anything. Valid JSON is returned unchanged.
//
// It repairs trailing and missing commas, unclosed brackets and strings, single and typographic
// quotes, quotes and newlines inside strings, bare words as keys and strings, Python's True, False
// and None, and comments.
func extractJSON(text string, open byte, fits func(json.RawMessage) bool) (json.RawMessage, error) {
	text = strings.TrimSpace(strings.TrimPrefix(thinkPattern.ReplaceAllString(text, ""), "\ufeff"))
	var first json.RawMessage
	for _, part := range candidateTexts(text) {
		for _, at := range candidateStarts(part, open) {
			v, ok := parseValid(part[at:])
			if !ok {
				v, ok = repairValue(part[at:])
			}
			switch {
			case !ok:
			case fits == nil || fits(v):
				return v, nil
			case first == nil:
				first = v
			}
		}
	}
	if first != nil {
		return first, nil
	}
	if t := strings.TrimSpace(candidateTexts(text)[0]); open == 0 && json.Valid([]byte(t)) {
		return json.RawMessage(t), nil
	}
	return nil, errNoJSON
}

// candidateTexts returns the parts of the text to search, most likely first. Text that begins with a
// bracket may contain fences inside its strings.
func candidateTexts(text string) []string {
	var fenced []string
	for _, m := range anyFencePattern.FindAllStringSubmatch(text, 8) {
		fenced = append(fenced, m[1])
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return append([]string{text}, fenced...)
	}
	return append(fenced, text)
}

// candidateStarts returns the offsets at which a value may begin. Brackets inside a value that failed
// are included: prose such as "(see [1])" must not hide the value after it.
func candidateStarts(s string, open byte) []int {
	var at []int
	for i := 0; i < len(s) && len(at) < maxStarts; i++ {
		if (s[i] == '{' || s[i] == '[') && (open == 0 || s[i] == open) {
			at = append(at, i)
		}
	}
	return at
}

// parseValid parses a valid value at the beginning of s.
func parseValid(s string) (json.RawMessage, bool) {
	var v json.RawMessage
	if err := json.NewDecoder(strings.NewReader(s)).Decode(&v); err != nil {
		return nil, false
	}
	return v, true
}

// repairValue parses a broken value at the beginning of s. It fails if the repair leaves the value
// empty.
func repairValue(s string) (json.RawMessage, bool) {
	p := &jsonParser{input: s}
	if !p.value(0) {
		return nil, false
	}
	out := p.output.Bytes()
	if !json.Valid(out) || bytes.Equal(out, []byte("{}")) || bytes.Equal(out, []byte("[]")) {
		return nil, false
	}
	return json.RawMessage(out), true
}

// CompleteJSON requests an answer of req.Schema's shape and decodes it into T. The answer is
// extracted from fences and prose, repaired and checked; an unusable one is requested once more,
// with the problem, if the budget allows. Keys that T lacks are ignored. Delta is not called: half
// an answer is not JSON.
//
// Errors are those of Complete, or ErrUnusable if both answers were; the last Response comes with
// it.
func CompleteJSON[T any](ctx context.Context, c Completer, req Request) (T, Response, error) {
	var zero T
	shape := &jsonSchema{}
	if req.Schema != nil {
		var err error
		if shape, err = parseSchema(req.Schema.JSON); err != nil {
			return zero, Response{}, fmt.Errorf("ask for %q as JSON: schema %q: %w", req.Task, req.Schema.Name, err)
		}
	}
	req.Delta = nil
	resp, err := c.Complete(ctx, req)
	v, problem := decodeAnswer[T](shape, resp, err)
	if problem == nil || !errors.Is(problem, ErrUnusable) {
		return v, resp, problem
	}
	second, err := c.Complete(ctx, askAgain(req, resp, problem))
	v, err = decodeAnswer[T](shape, second, err)
	switch {
	case err == nil:
		return v, second, nil
	case errors.Is(err, ErrBudget):
		return zero, resp, &Error{kind: ErrUnusable, cause: err, text: problem.Error() + "; no budget to ask again"}
	case errors.Is(err, ErrUnusable):
		return zero, second, errorf(ErrUnusable, "%v; asked again: %v", problem, err)
	}
	return zero, resp, err
}

// decodeAnswer decodes an answer into a T, or returns what is wrong with it.
func decodeAnswer[T any](shape *jsonSchema, resp Response, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	raw, err := extractJSON(resp.Text, shape.openingBracket(),
		func(raw json.RawMessage) bool { return shape.check(raw) == nil })
	if err == nil {
		err = shape.check(raw)
	}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(raw)).Decode(&v)
	}
	if err != nil {
		cut := ""
		if resp.Truncated() {
			cut = " (it was cut off: too long)"
		}
		return *new(T), &Error{kind: ErrUnusable, cause: err, text: fmt.Sprintf("read the model's answer as JSON: %v%s",
			err, cut)}
	}
	return v, nil
}

// askAgain returns the request with the unusable answer and its problem. An empty answer may
// change with another seed.
func askAgain(req Request, resp Response, problem error) Request {
	req.Seed++
	if resp.Text == "" {
		return req
	}
	const maxQuote = 4 << 10 // a runaway answer must not fill the prompt
	text := resp.Text[:min(len(resp.Text), maxQuote)]
	var cause error
	if e := (*Error)(nil); errors.As(problem, &e) {
		cause = e.cause
	}
	ask := fmt.Sprintf("That cannot be used: %v. Answer again, with JSON of the shape asked for and nothing else.",
		cause)
	if resp.Truncated() {
		ask = "That is too long and was cut off. Answer again, shorter, " +
			"with JSON of the shape asked for and nothing else."
	}
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
		Message{RoleAssistant, text}, Message{RoleUser, ask})
	req.retryMessages = 2
	return req
}
