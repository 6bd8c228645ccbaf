//go:build soak

package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// soakModel is a model server that answers at once and stores nothing, so that only the mesh is
// measured. One call in some hundreds fails.
type soakModel struct {
	listener net.Listener
	calls    atomic.Int64
	// down makes every call fail while set.
	down atomic.Bool
}

func newSoakModel(t *testing.T) *soakModel {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &soakModel{listener: listener}
	server := &http.Server{Handler: m}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return m
}

func (m *soakModel) url() string { return "http://" + m.listener.Addr().String() + "/v1" }

// ServeHTTP answers by the task that the client names.
func (m *soakModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	n := m.calls.Add(1)
	switch {
	case m.down.Load(), n%500 == 0:
		http.Error(w, `{"error":{"message":"overloaded","type":"server_error"}}`, http.StatusServiceUnavailable)
		return
	case n%1511 == 0:
		panic(http.ErrAbortHandler) // resets the connection
	case n%1999 == 0:
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>It works!</html>")
		return
	}
	text, logprobs := soakAnswer(strings.TrimPrefix(r.UserAgent(), "triplemesh/"), body)
	if n%997 == 0 {
		text, logprobs = strings.Repeat("and so on ", 40), ""
	}
	if bytes.Contains(body, []byte(`"stream":true`)) {
		w.Header().Set("Content-Type", "text/event-stream")
		half := len(text) / 2
		for _, piece := range []string{text[:half], text[half:]} {
			fmt.Fprintf(w, "data: {\"model\":\"scripted\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n",
				quoteJSON(piece))
			http.NewResponseController(w).Flush()
		}
		io.WriteString(w,
			"data: {\"model\":\"scripted\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"+
				"data: [DONE]\n\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w,
		`{"model":"scripted","choices":[{"index":0,"message":{"role":"assistant","content":%s},`+
			`"finish_reason":"stop"%s}],"usage":{"prompt_tokens":50,"completion_tokens":9}}`, quoteJSON(text), logprobs)
}

// quoteJSON encodes a text as JSON.
func quoteJSON(text string) []byte {
	data, _ := json.Marshal(text) // cannot fail for a string
	return data
}

// soakAnswer returns the model's response: drafts of the fact in question, and answers that the
// tests' graphs support or not.
func soakAnswer(task string, body []byte) (text, logprobs string) {
	switch task {
	case "pseudo-graph":
		relation, subject := askedFor(body)
		return fmt.Sprintf("CREATE (s {name: '%s'})-[:%s]->(o {name: 'Google'})", strings.ReplaceAll(subject, "'", ""),
			strings.ToUpper(strings.ReplaceAll(relation, " ", "_"))), ""
	case "query-plan":
		relation, subject := askedFor(body)
		return fmt.Sprintf("Person(name=%q).get(%q)", subject, relation), ""
	case "answer":
		if bytes.Contains(body, []byte(employer)) {
			return "It is {" + employer + "}.", ""
		}
		return "It is {Google}.", ""
	case "claims":
		return "Robert Stam | employer | Google", ""
	case "relation-paths":
		return "director -> educated at\ndirector", ""
	case "candidate-answers":
		return "{" + yale + "}, {New York City}", ""
	case "evaluate-question":
		return `{"reason": "a university is missing", "correct": false, "incomplete": true}`, ""
	case "evaluate-answer", "judge-sufficiency":
		return "yes",
			`,"logprobs":{"content":[{"token":"yes","logprob":-0.1,"top_logprobs":` +
				`[{"token":"yes","logprob":-0.1},{"token":"no","logprob":-2.3}]}]}`
	case "reflect":
		return `{"answers": ["` + yale + `", "` + tisch + `"]}`, ""
	case "rank-candidates":
		return `{"ranked": [{"item": 1, "weight": 1}]}`, ""
	case "rewrite-question":
		return employerQuestion, ""
	}
	return "I do not know.", ""
}

// askedFor returns what the last question of a request asks for.
func askedFor(body []byte) (relation, subject string) {
	const what = "What is the "
	if at := bytes.LastIndex(body, []byte(what)); at >= 0 {
		question, _, ok := strings.Cut(string(body[at+len(what):min(len(body), at+200)]), "?")
		if relation, subject, found := strings.Cut(question, " of "); ok && found &&
			!strings.ContainsAny(subject, `\"`) {
			return relation, subject
		}
	}
	return "employer", "Robert Stam"
}
