package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// events are the server-sent events of one answer. The answer begins with the
// first of them, so that a failure before it has a status of its own.
type events struct {
	w         http.ResponseWriter
	r         *http.Request
	control   *http.ResponseController
	heartbeat time.Duration
	// quiet fires when nothing was written for a heartbeat.
	quiet *time.Timer
	begun bool
}

func newEvents(w http.ResponseWriter, r *http.Request, heartbeat time.Duration) *events {
	return &events{w: w, r: r, control: http.NewResponseController(w), heartbeat: heartbeat, quiet: time.NewTimer(heartbeat)}
}

// pass writes messages as events until there are no more, or nobody reads them.
// The last message has an error, io.EOF where all went well; it comes too where
// the stream's context ends.
func (e *events) pass(next receive) {
	type received struct {
		message proto.Message
		err     error
	}
	messages, done := make(chan received), make(chan struct{})
	defer close(done)
	defer e.quiet.Stop()
	go func() {
		for {
			m, err := next()
			select {
			case messages <- received{m, err}:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		var err error
		select {
		case <-e.quiet.C:
			err = e.beat()
		case m := <-messages:
			if errors.Is(m.err, io.EOF) {
				return
			}
			if m.err != nil {
				e.fail(problemOf(m.err))
				return
			}
			err = e.send(m.message)
		}
		if err != nil {
			return // nobody reads it any more
		}
	}
}

// send writes a message as an event that is named after what is set in it.
func (e *events) send(m proto.Message) error {
	data, err := protojson.Marshal(m)
	if err != nil {
		return err
	}
	return e.write(nameOf(m), data)
}

// nameOf is the name, in JSON, of what is set in a message's only oneof.
func nameOf(m proto.Message) string {
	r := m.ProtoReflect()
	if of := r.Descriptor().Oneofs(); of.Len() > 0 {
		if field := r.WhichOneof(of.Get(0)); field != nil {
			return field.JSONName()
		}
	}
	return "message"
}

// fail tells of an error: by the answer's status, or where it has one already,
// by an event.
func (e *events) fail(p problem.Problem) {
	if !e.begun {
		problem.Write(e.w, e.r, p)
		return
	}
	data, err := json.Marshal(p.For(e.r))
	if err == nil {
		_ = e.write("error", data) // to a caller that may be gone
	}
}

// beat says that the stream is there.
func (e *events) beat() error { return e.flush([]byte(": still here\n\n")) }

func (e *events) write(name string, data []byte) error {
	return e.flush(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: "))))
}

func (e *events) flush(text []byte) error {
	if !e.begun {
		e.begun = true
		h := e.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // proxies that gather answers let events through
	}
	e.quiet.Reset(e.heartbeat)
	if _, err := e.w.Write(text); err != nil {
		return err
	}
	return e.control.Flush()
}
