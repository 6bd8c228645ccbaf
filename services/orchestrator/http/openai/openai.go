// Package openai serves OpenAI's API: every method of the orchestrator is a model, the last message
// of a conversation is the question, and the answer is a chat completion. Everything without an
// OpenAI field is in the field "triplemesh".
package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Config is the configuration of the handler.
type Config struct {
	// Heartbeat is the interval of heartbeats on an idle stream; 0 means 15 s.
	Heartbeat time.Duration
}

// handler serves OpenAI's API.
type handler struct {
	orchestrator orchestratorv1.OrchestratorServiceClient
	graphs       retrieverv1.KnowledgeGraphServiceClient
	heartbeat    time.Duration
	opened       time.Time
}

// New returns the handler of /v1/models and /v1/chat/completions, which calls the orchestrator and
// the services that it forwards over conn. The request's context carries the caller's identity.
func New(conn grpc.ClientConnInterface, cfg Config) http.Handler {
	d := &handler{
		orchestrator: orchestratorv1.NewOrchestratorServiceClient(conn),
		graphs:       retrieverv1.NewKnowledgeGraphServiceClient(conn),
		heartbeat:    cfg.Heartbeat,
		opened:       time.Now(),
	}
	if d.heartbeat <= 0 {
		d.heartbeat = 15 * time.Second
	}
	mux := http.NewServeMux()
	mux.Handle("GET /v1/models", handlerFunc(d.list))
	mux.Handle("GET /v1/models/{id...}", handlerFunc(d.retrieve))
	mux.Handle("POST /v1/chat/completions", handlerFunc(d.complete))
	mux.Handle("/", handlerFunc(unknown))
	return mux
}

// handlerFunc serves a request, or returns an error.
type handlerFunc func(http.ResponseWriter, *http.Request) error

func (h handlerFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil && r.Context().Err() == nil {
		failureOf(err).write(w)
	}
}

// unknown rejects paths of OpenAI's API that are not implemented.
func unknown(w http.ResponseWriter, r *http.Request) error {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if known[r.URL.Path] == method && r.Method != method {
			w.Header().Set("Allow", method)
			return &failure{status: http.StatusMethodNotAllowed, Type: invalidRequest, Code: "method_not_allowed",
				Message: "use " + method + " for " + r.URL.Path}
		}
	}
	return &failure{status: http.StatusNotFound, Type: invalidRequest, Code: "unknown_url",
		Message: "there is nothing at " + r.URL.Path + ": this server has /v1/models and /v1/chat/completions"}
}

// known maps the implemented paths to their methods.
var known = map[string]string{"/v1/models": http.MethodGet, "/v1/chat/completions": http.MethodPost}

// readOptions parses the field triplemesh of a request: an AskRequest in JSON, with knowledge
// graphs by name and without the fields that the messages and the model set.
func readOptions(text json.RawMessage) (*orchestratorv1.AskRequest, error) {
	ask := &orchestratorv1.AskRequest{}
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" {
		return ask, nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, invalid("triplemesh",
			`triplemesh: want an object such as {"kg": "wikidata", `+
				`"options": {"verification": "VERIFICATION_MODE_ALIGN"}}`)
	}
	for field, said := range map[string]string{"question": "the last message", "history": "the messages before it",
		"method": "the model"} {
		if _, ok := fields[field]; ok {
			return nil, invalid("triplemesh."+field, "triplemesh.%s: %s says that", field, said)
		}
	}
	var err error
	if ask.Kg, err = parseKG(fields, "kg"); err != nil {
		return nil, err
	}
	for _, field := range []string{"other_kgs", "otherKgs"} {
		if err := takeOthers(ask, fields, field); err != nil {
			return nil, err
		}
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	more := &orchestratorv1.AskRequest{}
	if err := protojson.Unmarshal(rest, more); err != nil {
		return nil, invalid("triplemesh", "triplemesh: %s", stripPosition(err))
	}
	more.Kg, more.OtherKgs = ask.GetKg(), ask.GetOtherKgs()
	return more, nil
}

// parseKG removes and parses a field with the name of a knowledge graph.
func parseKG(fields map[string]json.RawMessage, field string) (*graphv1.KnowledgeGraphRef, error) {
	text, ok := fields[field]
	delete(fields, field)
	if !ok || string(text) == "null" {
		return nil, nil
	}
	var name string
	err := json.Unmarshal(text, &name)
	kg, ok := parseReference(name)
	if err != nil || !ok {
		return nil, invalid("triplemesh."+field,
			`triplemesh.%s: want the name of a knowledge graph, "wikidata", or one snapshot of it, "wikidata@3"`, field)
	}
	return kg, nil
}

// takeOthers removes and parses a field with names of knowledge graphs.
func takeOthers(ask *orchestratorv1.AskRequest, fields map[string]json.RawMessage, field string) error {
	text, ok := fields[field]
	delete(fields, field)
	if !ok {
		return nil
	}
	var names []json.RawMessage
	if err := json.Unmarshal(text, &names); err != nil {
		return invalid("triplemesh."+field, "triplemesh.%s: want names of knowledge graphs", field)
	}
	for _, name := range names {
		kg, err := parseKG(map[string]json.RawMessage{field: name}, field)
		if err != nil {
			return err
		}
		if kg != nil {
			ask.OtherKgs = append(ask.OtherKgs, kg)
		}
	}
	return nil
}

// stripPosition removes the position from an error of protojson: the input is not the caller's.
func stripPosition(err error) string { return position.ReplaceAllString(err.Error(), "") }

var position = regexp.MustCompile(`^proto:[\s\x{00a0}]*|\(line \d+:\d+\):?[\s\x{00a0}]*`)
