package sparql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

var bindings = []string{
	`{"s":{"type":"uri","value":"http://x.org/q"},` +
		`"p":{"type":"uri","value":"http://www.w3.org/2000/01/rdf-schema#label"},` +
		`"o":{"type":"literal","xml:lang":"en","value":"Queen"}}`,
	`{"s":{"type":"uri","value":"http://x.org/q"},"p":{"type":"uri","value":"x:born"},` +
		`"o":{"type":"literal","datatype":"http://www.w3.org/2001/XMLSchema#date","value":"1926-04-21"}}`,
	`{"s":{"type":"uri","value":"http://x.org/q"},"p":{"type":"uri","value":"x:spouse"},` +
		`"o":{"type":"bnode","value":"nodeID://b1"}}`,
	`{"s":{"type":"bnode","value":"nodeID://b1"},` +
		`"p":{"type":"uri","value":"x:motto"},` +
		`"o":{"type":"typed-literal","datatype":"http://www.w3.org/2001/XMLSchema#string","value":"tab\tand\nline"}}`,
	`{"s":{"type":"uri","value":"http://x.org/q"},"p":{"type":"uri","value":"x:heirs"},` +
		`"o":{"type":"literal","value":"4"}}`,
}

func answer(rows []string) string {
	return `{"head":{"vars":["s","p","o"],"link":[]},"results":{"distinct":false,"bindings":[` +
		strings.Join(rows, ",") + `]}}`
}

var window = regexp.MustCompile(`LIMIT (\d+) OFFSET (\d+)$`)

// endpoint answers as a SPARQL endpoint that gives at most most rows at once.
func endpoint(t *testing.T, most int, queries *[]string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); r.Method != http.MethodPost || user != "ann" || password != "secret" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		query := r.PostFormValue("query")
		*queries = append(*queries, query)
		of := window.FindStringSubmatch(query)
		if of == nil {
			t.Errorf("the query is %q", query)
			return
		}
		limit, _ := strconv.Atoi(of[1])
		offset, _ := strconv.Atoi(of[2])
		from := min(offset, len(bindings))
		fmt.Fprint(w, answer(bindings[from:min(from+min(limit, most), len(bindings))]))
	}))
	t.Cleanup(server.Close)
	return server
}

func TestReadByPages(t *testing.T) {
	for _, most := range []int{1000, 2} {
		var queries []string
		server := endpoint(t, most, &queries)
		var sink sourcetest.Sink
		n, err := Read(t.Context(), Config{Endpoint: server.URL, User: "ann", Password: "secret", Page: 3,
			Graph: "x:graph"}, &sink)
		if err != nil || n != 5 {
			t.Fatalf("%d statements, error %v", n, err)
		}
		sink.Check(t)
		// The blank node stands on one page or on two.
		other := "_:p1.nodeID_3a_2f_2fb1"
		if most == 1000 {
			other = "_:p2.nodeID_3a_2f_2fb1"
		}
		first := "_:p1.nodeID_3a_2f_2fb1"
		if most == 2 {
			first, other = "_:p2.nodeID_3a_2f_2fb1", "_:p2.nodeID_3a_2f_2fb1"
		}
		sourcetest.Equal(t, "facts", sink.Facts, []string{
			"http://x.org/q | x:born | 1926-04-21 (date)", "http://x.org/q | x:spouse | " + first + " (mediator)",
			other + " (mediator) | x:motto | tab and line (text)", "http://x.org/q | x:heirs | 4 (text)",
		})
		sourcetest.Equal(t, "labels", sink.Labels, []string{"http://x.org/q = Queen", "http://x.org/q = q #16"})
		want := "SELECT ?s ?p ?o FROM <x:graph> WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o LIMIT 3 OFFSET 0"
		if queries[0] != want {
			t.Errorf("asked %q, want %q", queries[0], want)
		}
	}
}

func TestCopy(t *testing.T) {
	var queries []string
	server := endpoint(t, 1000, &queries)
	var out bytes.Buffer
	if n, err := Copy(t.Context(), Config{Endpoint: server.URL, User: "ann", Password: "secret"}, &out); err != nil ||
		n != 5 {
		t.Fatalf("%d statements, error %v", n, err)
	}
	want := `<http://x.org/q> <http://www.w3.org/2000/01/rdf-schema#label> "Queen"@en .
<http://x.org/q> <x:born> "1926-04-21"^^<http://www.w3.org/2001/XMLSchema#date> .
<http://x.org/q> <x:spouse> _:p1.nodeID_3a_2f_2fb1 .
_:p1.nodeID_3a_2f_2fb1 <x:motto> "tab\u0009and\u000aline" .
<http://x.org/q> <x:heirs> "4" .
`
	if out.String() != want {
		t.Errorf("got  %s\nwant %s", out.String(), want)
	}
}

// replies is a transport that answers with one reply after another, the last
// one again and again.
type replies struct {
	list  []reply
	calls int
}

type reply struct {
	status int
	header [2]string
	body   string
	err    error
}

func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	this := r.list[min(r.calls, len(r.list)-1)]
	r.calls++
	if this.err != nil {
		return nil, this.err
	}
	if this.status == 0 {
		this.status = http.StatusOK
	}
	header := http.Header{}
	if this.header[0] != "" {
		header.Set(this.header[0], this.header[1])
	}
	return &http.Response{StatusCode: this.status, Status: fmt.Sprint(this.status, " ", http.StatusText(this.status)),
		Header: header, Body: io.NopCloser(strings.NewReader(this.body)), Request: req}, nil
}

func TestFailures(t *testing.T) {
	whole, none := reply{body: answer(bindings[:2])}, reply{body: answer(nil)}
	for name, c := range map[string]struct {
		replies []reply
		config  Config
		calls   int
		waited  time.Duration
		says    string
	}{
		"Retry-After is obeyed": {[]reply{{status: 429, header: [2]string{"Retry-After", "70"}}, whole,
			none}, Config{}, 3, 70 * time.Second, ""},
		"without it the waits grow": {[]reply{{status: 503}, {status: 502}, whole, none}, Config{}, 4,
			3 * time.Second, ""},
		"a broken connection may recover": {[]reply{{err: errors.New("reset")}, whole, none}, Config{}, 3,
			time.Second, ""},
		"so may an answer that is cut off": {[]reply{{body: whole.body[:len(whole.body)-2]}, whole, none}, Config{}, 3,
			time.Second, ""},
		"there is an end to attempts": {[]reply{{status: 503, body: "down"}}, Config{Attempts: 3}, 3,
			3 * time.Second, `3 attempts failed, the last one: status 503 Service Unavailable: "down"`},
		"and to waiting": {[]reply{{status: 503, header: [2]string{"Retry-After", "86400"}}},
			Config{}, 1, 0, "the endpoint asks for a pause of 24h0m0s, the limit is 2m0s"},
		"a refusal is final": {[]reply{{status: 400, body: strings.Repeat("bad query ", 100)}}, Config{},
			1, 0, `read SPARQL endpoint http://x.org/sparql: status 400 Bad Request: "bad query `},
		"a page of HTML is no result": {[]reply{{body: "<html>"}}, Config{}, 1, 0,
			"the answer is not a SPARQL result in JSON: invalid character '<'"},
		"nor is other JSON": {[]reply{{body: `{"boolean": true}`}}, Config{}, 1, 0,
			`the answer has no "results"; is this a SPARQL endpoint?`},
		"nor is a list": {[]reply{{body: `[]`}}, Config{}, 1, 0, `want "{", got "["`},
		"pages must go on": {[]reply{whole, whole}, Config{}, 2, 0,
			"page 2 begins with the same statement as the one before: it does not obey OFFSET"},
		"an answer is bounded": {[]reply{whole}, Config{MaxBytes: 100}, 1, 0,
			"the answer is too large; ask for smaller pages"},
		"a partial answer is none": {[]reply{{header: [2]string{"X-SQL-State", "S1TAT"}, body: whole.body}},
			Config{}, 1, 0, "the answer is not whole (S1TAT: )"},
		"a variable must be bound": {[]reply{{body: answer([]string{`{"s":{"type":"uri","value":"x:a"}}`})}},
			Config{}, 1, 0, "row 1 of the answer lacks ?s, ?p or ?o"},
		"a term must be of a known type": {
			[]reply{{body: answer([]string{strings.Replace(bindings[0], `"uri"`, `"triple"`, 1)})}}, Config{}, 1, 0,
			`row 1 of the answer: a term is of the unknown type "triple"`},
		"a predicate must be an IRI": {
			[]reply{{body: answer([]string{strings.Replace(bindings[4], `"p":{"type":"uri"`, `"p":{"type":"bnode"`,
				1)})}}, Config{}, 1, 0, "statement 1: its subject is a literal, or its predicate no IRI"},
		"a blank node must have a label": {
			[]reply{{body: answer([]string{strings.Replace(bindings[3], "nodeID://b1", "", 1)})}}, Config{}, 1, 0,
			"statement 1: a blank node has no label"},
		"a graph must be an IRI": {[]reply{whole}, Config{Graph: "x> y"}, 0, 0, `the graph "x> y" is not an IRI`},
		"a statement may be too much": {
			[]reply{{body: answer([]string{strings.Replace(bindings[4], `"4"`, `""`, 1)})}}, Config{}, 1, 0,
			"statement 1: the object is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := &replies{list: c.replies}
				c.config.Endpoint, c.config.Client = "http://ann:secret@x.org/sparql?key=secret",
					&http.Client{Transport: transport}
				start := time.Now()
				var sink sourcetest.Sink
				n, err := Read(t.Context(), c.config, &sink)
				if transport.calls != c.calls || time.Since(start) != c.waited {
					t.Errorf("%d calls in %s, want %d in %s", transport.calls, time.Since(start), c.calls, c.waited)
				}
				if c.says == "" {
					if err != nil || n != 2 {
						t.Errorf("%d statements, error %v", n, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") ||
					len(err.Error()) > 600 {
					t.Errorf("error %v, want %q", err, c.says)
				}
			})
		})
	}
}

func TestABadStatementCanBeSkipped(t *testing.T) {
	rows := []string{strings.Replace(bindings[4], `"4"`, `""`, 1), bindings[1],
		strings.Replace(bindings[1], "x:born", "x born", 1)}
	var bad []string
	config := Config{Endpoint: "http://x.org", Bad: func(err error) error {
		bad = append(bad, err.Error())
		return nil
	}}
	var sink sourcetest.Sink
	config.Client = &http.Client{Transport: &replies{list: []reply{{body: answer(rows)}, {body: answer(nil)}}}}
	if n, err := Read(t.Context(), config, &sink); err != nil || n != 3 || len(bad) != 2 || len(sink.Facts) != 1 {
		t.Errorf("%d statements, bad %q, facts %q, error %v", n, bad, sink.Facts, err)
	}
	bad = nil
	config.Client = &http.Client{Transport: &replies{list: []reply{{body: answer(rows)}, {body: answer(nil)}}}}
	if n, err := Copy(t.Context(), config, io.Discard); err != nil || n != 3 || len(bad) != 1 ||
		!strings.Contains(bad[0], `statement 3: "x born" is not an IRI`) {
		t.Errorf("%d statements, bad %q, error %v", n, bad, err)
	}
}

func TestSinkErrorsAndCancelStopReading(t *testing.T) {
	full := errors.New("full")
	client := &http.Client{Transport: &replies{list: []reply{{body: answer(bindings)}}}}
	if _, err := Read(t.Context(), Config{Endpoint: "http://x.org", Client: client},
		&sourcetest.Sink{Err: full}); !errors.Is(err, full) {
		t.Errorf("a sink that is full: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	busy := &http.Client{Transport: &replies{list: []reply{{status: 503}}}}
	if _, err := Read(ctx, Config{Endpoint: "http://x.org", Client: busy}, &sourcetest.Sink{}); err == nil {
		t.Error("a cancelled read continues")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{"": 0, "5": 5 * time.Second, "-5": 0, "soon": 0,
		"Thu, 01 Jan 2026 00:01:00 GMT": time.Minute} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q is %s, want %s", header, got, want)
		}
	}
}

func FuzzResults(f *testing.F) {
	f.Add(answer(bindings))
	f.Add(`{"results":{"bindings":[{"s":null}]}}`)
	f.Add(`{"a":[1,{}],"results":{"b":"c","bindings":[]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var sink sourcetest.Sink
		config := Config{Endpoint: "http://x.org", Attempts: 1, Bad: func(error) error { return nil }}
		config.Client = &http.Client{Transport: &replies{list: []reply{{body: text}, {body: answer(nil)}}}}
		_, err := Read(t.Context(), config, &sink)
		if err == nil && !json.Valid([]byte(text)) && !strings.Contains(text, "bindings") {
			t.Errorf("%q is taken", text)
		}
		sink.Check(t)
	})
}
