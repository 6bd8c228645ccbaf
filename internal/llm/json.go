package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/llm/repair"
	"github.com/triplemesh/triplemesh/internal/llm/schema"
)

// CompleteJSON asks for an answer of req.Schema's shape and decodes it into T.
// The answer is taken out of fences and prose, repaired and checked; one that
// cannot be used is asked for once more, with what was wrong, if the budget
// allows. Keys that T does not have are ignored. Delta is not called: half an
// answer is no JSON.
//
// Errors are those of Complete, or ErrUnusable when both answers were; the last
// Response comes with it.
func CompleteJSON[T any](ctx context.Context, c Completer, req Request) (T, Response, error) {
	var zero T
	shape := &schema.Schema{}
	if req.Schema != nil {
		var err error
		if shape, err = schema.Parse(req.Schema.JSON); err != nil {
			return zero, Response{}, fmt.Errorf("ask for %q as JSON: schema %q: %w", req.Task, req.Schema.Name, err)
		}
	}
	req.Delta = nil
	resp, err := c.Complete(ctx, req)
	v, wrong := decode[T](shape, resp, err)
	if wrong == nil || !errors.Is(wrong, ErrUnusable) {
		return v, resp, wrong
	}
	second, err := c.Complete(ctx, retry(req, resp, wrong))
	v, still := decode[T](shape, second, err)
	switch {
	case still == nil:
		return v, second, nil
	case errors.Is(still, ErrBudget):
		return zero, resp, &Error{kind: ErrUnusable, cause: still, what: fmt.Sprintf("%v; no budget to ask again", wrong)}
	case errors.Is(still, ErrUnusable):
		return zero, second, &Error{kind: ErrUnusable, what: fmt.Sprintf("%v; asked again: %v", wrong, still)}
	}
	return zero, resp, still
}

// decode makes a T of an answer, or says what is wrong with it.
func decode[T any](shape *schema.Schema, resp Response, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	raw, err := repair.JSON(resp.Text, shape.Open(), func(raw json.RawMessage) bool { return shape.Check(raw) == nil })
	if err == nil {
		err = shape.Check(raw)
	}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(raw)).Decode(&v)
	}
	if err != nil {
		cut := ""
		if resp.Cut() {
			cut = " (it was cut off: too long)"
		}
		return *new(T), &Error{kind: ErrUnusable, cause: err, what: fmt.Sprintf("read the model's answer as JSON: %v%s", err, cut)}
	}
	return v, nil
}

// retry asks again with what was wrong. Without an answer to point at, another
// seed is what may change it.
func retry(req Request, resp Response, wrong error) Request {
	req.Seed++
	if resp.Text == "" {
		return req
	}
	const most = 4 << 10 // a model that ran wild must not fill the prompt
	text := resp.Text
	if len(text) > most {
		text = text[:most]
	}
	var cause error
	if e := (*Error)(nil); errors.As(wrong, &e) {
		cause = e.cause
	}
	ask := fmt.Sprintf("That cannot be used: %v. Answer again, with JSON of the shape asked for and nothing else.", cause)
	if resp.Cut() {
		ask = "That is too long and was cut off. Answer again, shorter, with JSON of the shape asked for and nothing else."
	}
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
		Message{RoleAssistant, text}, Message{RoleUser, ask})
	req.again = 2
	return req
}
