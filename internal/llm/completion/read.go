package completion

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// ErrCut is a stream that ended without saying so.
var ErrCut = errors.New("the stream ended without an end")

// Read hands each piece of a completion to take, until that fails, and returns
// nil where the completion says that it is whole: a single JSON value, or a
// stream that ends in [DONE]. A stream that only ends gives ErrCut, which is no
// fault where its last piece said why it finished. Which of both it is, the
// bytes say: content types are wrong too often.
func Read(body io.Reader, take func(Chunk) error) error {
	r := bufio.NewReader(body)
	first, err := begin(r)
	switch {
	case err != nil:
		return err
	case first == '<':
		return &NoCompletion{Page: true}
	case first == '{' || first == '[':
		var c chunk
		if err := json.NewDecoder(r).Decode(&c); err != nil {
			return none(err)
		}
		return c.give(take)
	}
	return events(r, take)
}

// begin passes over space and byte order marks, and looks at what comes first.
func begin(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // nothing at all
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

// trimmed is begin for what is there already.
func trimmed(body []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\xef\xbb\xbf")))
}

// none keeps a connection that broke apart from bytes that are wrong.
func none(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &typ) {
		return &NoCompletion{Cause: err}
	}
	return err
}

func (c *chunk) give(take func(Chunk) error) error {
	if f := c.failure(); f != nil {
		return f
	}
	return take(c.chunk())
}

// mostLines bounds the lines of one event: each is read again with the next.
const mostLines = 64

// fields are what lines of events begin with; comments with nothing, and errors
// of llama-server before October 2025 with a field of their own.
var fields = map[string]bool{"data": true, "event": true, "id": true, "retry": true, "": true, "error": true}

// events reads server-sent events. Where a server forgets the empty line
// between two, each line that is whole JSON is an event; one that is not goes on
// in the next line of data.
func events(r *bufio.Reader, take func(Chunk) error) error {
	var pending []byte
	lines, known := 0, false
	for {
		line, readErr := r.ReadBytes('\n')
		field, value := split(line)
		known = known || fields[field] && len(line) > 0
		switch {
		case field == "data" && string(value) == "[DONE]":
			return nil
		case field == "data":
			pending = append(append(pending, value...), '\n')
			lines++
		case field == "error":
			pending = append(append([]byte(`{"error":`), value...), '}')
		}
		if len(bytes.TrimSpace(pending)) > 0 {
			var c chunk
			err := json.Unmarshal(pending, &c)
			if err == nil {
				pending, lines = pending[:0], 0
				if err := c.give(take); err != nil {
					return err
				}
			} else if readErr == nil && (field == "" && value == nil || lines > mostLines) {
				return &NoCompletion{Cause: err}
			}
		}
		switch {
		case errors.Is(readErr, io.EOF) && !known:
			return &NoCompletion{Cause: errors.New("neither JSON nor a stream of events")}
		case errors.Is(readErr, io.EOF):
			return ErrCut
		case readErr != nil:
			return readErr
		}
	}
}

// split takes an event's line apart. A comment is a field without a name; an
// empty line has no value either.
func split(line []byte) (field string, value []byte) {
	line = bytes.TrimRight(line, "\r\n")
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found {
		return string(name), nil
	}
	return string(name), append([]byte{}, bytes.TrimSpace(value)...)
}
