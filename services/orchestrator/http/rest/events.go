package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

// events writes the server-sent events of one response. The header is sent with the first, so that
// an earlier failure has its own status.
type events struct {
	w         http.ResponseWriter
	r         *http.Request
	control   *http.ResponseController
	heartbeat time.Duration
	// quiet fires after a heartbeat interval without a write.
	quiet *time.Timer
	begun bool
}

func newEvents(w http.ResponseWriter, r *http.Request, heartbeat time.Duration) *events {
	return &events{w: w, r: r, control: http.NewResponseController(w), heartbeat: heartbeat,
		quiet: time.NewTimer(heartbeat)}
}

// pass writes messages as events until the last, or until the client disconnects. The last has an
// error, io.EOF on success; the end of the stream's context is one too.
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
			err = e.flush([]byte(": still here\n\n"))
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
			return // the caller left
		}
	}
}

// send writes a message as an event named after the set field of its oneof.
func (e *events) send(m proto.Message) error {
	data, err := protojson.Marshal(m)
	if err != nil {
		return err
	}
	return e.write(nameOf(m), data)
}

// nameOf returns the JSON name of the set field of a message's only oneof.
func nameOf(m proto.Message) string {
	r := m.ProtoReflect()
	if of := r.Descriptor().Oneofs(); of.Len() > 0 {
		if field := r.WhichOneof(of.Get(0)); field != nil {
			return field.JSONName()
		}
	}
	return "message"
}

// fail reports an error by the status of the response or, once that is sent, by an event.
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

func (e *events) write(name string, data []byte) error {
	return e.flush(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, bytes.ReplaceAll(data, []byte("\n"),
		[]byte("\ndata: "))))
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

// receive returns the next message of a stream; io.EOF after the last.
type receive func() (proto.Message, error)

// opener opens the stream of a request body.
type opener func(ctx context.Context, body []byte) (receive, error)

// openers are the stream openers by operation.
func openers(asking orchestratorv1.OrchestratorServiceClient) map[string]opener {
	return map[string]opener{
		"AskStream": func(ctx context.Context, body []byte) (receive, error) {
			req := &orchestratorv1.AskStreamRequest{Request: &orchestratorv1.AskRequest{}}
			if err := decode(body, req.GetRequest()); err != nil {
				return nil, err
			}
			return receiving(asking.AskStream(ctx, req))
		},
		"CheckStream": func(ctx context.Context, body []byte) (receive, error) {
			req := &orchestratorv1.CheckStreamRequest{Request: &orchestratorv1.CheckRequest{}}
			if err := decode(body, req.GetRequest()); err != nil {
				return nil, err
			}
			return receiving(asking.CheckStream(ctx, req))
		},
	}
}

func decode(body []byte, into proto.Message) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if err := strict.Unmarshal(body, into); err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return nil
}

func receiving[T any, M interface {
	*T
	proto.Message
}](stream grpc.ServerStreamingClient[T], err error) (receive, error) {
	return func() (proto.Message, error) {
		m, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		return M(m), nil
	}, err
}

// stream responds with events. A disconnect cancels the call.
func (a *api) stream(w http.ResponseWriter, r *http.Request, body []byte, open opener) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	next, err := open(ctx, body)
	if err != nil {
		problem.Write(w, r, problemOf(err))
		return
	}
	newEvents(w, r, a.heartbeat).pass(next)
}
