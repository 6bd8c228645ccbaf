// Package dialect translates chat completions from the dialects of OpenAI, vLLM, llama-server,
// Ollama, LM Studio and OpenRouter to the one form that an OpenAI client parses: a JSON object,
// or server-sent events that end in [DONE]. A field of a wrong type counts as missing; only
// bytes that contain no completion at all are an error.
package dialect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// ErrTruncated is returned if the event stream ended without [DONE].
var ErrTruncated = errors.New("the stream ended without [DONE]")

// ErrTooLarge is returned if the server sent more bytes than the limit.
var ErrTooLarge = errors.New("answer is too large")

// NotCompletionError reports bytes that are not a chat completion.
type NotCompletionError struct {
	// WebPage reports whether they are a web page.
	WebPage bool
	Cause   error
}

// Error implements error.
func (e *NotCompletionError) Error() string {
	if e.WebPage {
		return "a web page instead of a completion"
	}
	return fmt.Sprintf("not a completion: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *NotCompletionError) Unwrap() error { return e.Cause }

// usageWait is how long Body waits for the usage after the choice has finished.
const usageWait = time.Second / 2

// Body translates the body of a response to a chat completion request. An error that the server
// reports inside it is returned by Read as *openai.APIError.
type Body struct {
	in       *limitedBody
	events   decoder
	streamed bool
	// abort ends the exchange: a server may keep the connection open after the answer.
	abort    func()
	timer    *time.Timer
	finished bool

	merged  merger // if not streamed
	pending []byte
	err     error
}

// NewBody wraps body, of which at most limit bytes are read. The translation is a stream of events
// if streamed, otherwise one JSON object, whichever of both the server sends. abort must make reads of
// body fail.
func NewBody(body io.ReadCloser, limit int64, streamed bool, abort func()) *Body {
	b := &Body{in: &limitedBody{body, limit}, streamed: streamed, abort: abort}
	b.events.in = bufio.NewReader(b.in)
	return b
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	for len(b.pending) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.translate()
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}

// Close implements io.Closer.
func (b *Body) Close() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.abort()
	return b.in.Close()
}

// translate takes the next chunk of the server's.
func (b *Body) translate() {
	c, err := b.events.next()
	switch {
	case err == nil:
		b.add(c.normalise())
	case b.finished:
		// A finished choice is complete, however the stream ends.
		b.end()
	case errors.Is(err, io.EOF):
		b.end()
	case errors.Is(err, ErrTooLarge) && b.merged.content.Len() > 0:
		b.merged.Choices[0].Finish = openai.FinishReasonLength
		b.end()
	default:
		b.err = err
	}
}

func (b *Body) add(c completion) {
	if c.finished() && b.timer == nil {
		b.finished = true
		b.timer = time.AfterFunc(usageWait, b.abort)
	}
	if b.streamed {
		b.pending = append(append([]byte("data: "), c.encode(true)...), "\n\n"...)
		return
	}
	b.merged.add(c)
}

func (b *Body) end() {
	b.err = io.EOF
	if b.streamed {
		b.pending = []byte("data: [DONE]\n\n")
		return
	}
	merged := b.merged.result()
	b.pending = merged.encode(false)
}

// limitedBody fails once the server has sent more than it may.
type limitedBody struct {
	io.ReadCloser
	remaining int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, ErrTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.remaining)])
	b.remaining -= int64(n)
	return n, err
}

// maxEventLines bounds the lines of one event: each is parsed again with the next.
const maxEventLines = 64

// eventFields start the lines of events: comments have an empty name, and llama-server before
// October 2025 sent errors in a field of their own.
var eventFields = map[string]bool{"data": true, "event": true, "id": true, "retry": true, "": true, "error": true}

// decoder reads the chunks of a completion: a single JSON value, or server-sent events. The bytes
// tell which: content types are wrong too often.
type decoder struct {
	in      *bufio.Reader
	started bool
	ended   bool
	// valid reports whether a line looked like that of an event.
	valid bool
}

// next returns the next chunk, or an error: io.EOF after a JSON value or [DONE], ErrTruncated if
// the stream only ends, *openai.APIError for an error that the server reports.
func (d *decoder) next() (*chunk, error) {
	if d.ended {
		return nil, io.EOF
	}
	if d.started {
		return d.event()
	}
	d.started = true
	first, err := skipSpace(d.in)
	switch {
	case err != nil:
		return nil, err
	case first == '<':
		return nil, &NotCompletionError{WebPage: true}
	case first == '{' || first == '[':
		d.ended = true
		var c chunk
		if err := json.NewDecoder(d.in).Decode(&c); err != nil {
			return nil, notCompletion(err)
		}
		return c.check()
	}
	return d.event()
}

// skipSpace skips space and byte order marks, and peeks at the next byte.
func skipSpace(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // an empty body
			}
			return 0, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
		default:
			return b, r.UnreadByte()
		}
	}
}

// notCompletion distinguishes wrong bytes from a broken connection.
func notCompletion(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &typ) {
		return &NotCompletionError{Cause: err}
	}
	return err
}

// event reads the next event. Some servers omit the empty line between events: each line that is
// valid JSON is an event, and one that is not continues in the next line of data.
func (d *decoder) event() (*chunk, error) {
	var data []byte
	for lines := 0; ; {
		line, readErr := d.in.ReadBytes('\n')
		field, value := splitLine(line)
		d.valid = d.valid || eventFields[field] && len(line) > 0
		switch {
		case field == "data" && string(value) == "[DONE]":
			d.ended = true
			return nil, io.EOF
		case field == "data":
			data = append(append(data, value...), '\n')
			lines++
		case field == "error":
			data = append(append([]byte(`{"error":`), value...), '}')
		}
		if len(bytes.TrimSpace(data)) > 0 {
			var c chunk
			err := json.Unmarshal(data, &c)
			if err == nil {
				return c.check()
			}
			if readErr == nil && (field == "" && value == nil || lines > maxEventLines) {
				return nil, &NotCompletionError{Cause: err}
			}
		}
		switch {
		case errors.Is(readErr, io.EOF) && !d.valid:
			return nil, &NotCompletionError{Cause: errors.New("neither JSON nor a stream of events")}
		case errors.Is(readErr, io.EOF):
			return nil, ErrTruncated
		case readErr != nil:
			return nil, readErr
		}
	}
}

// splitLine splits an event's line. A comment is a field with an empty name; an empty line has no
// value either.
func splitLine(line []byte) (field string, value []byte) {
	line = bytes.TrimRight(line, "\r\n")
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found {
		return string(name), nil
	}
	return string(name), append([]byte{}, bytes.TrimSpace(value)...)
}
