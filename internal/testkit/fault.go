package testkit

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Disconnect breaks the connection without an answer.
func (r *Rule) Disconnect() *Rule {
	return r.fault(func(http.ResponseWriter, *http.Request, Request) { panic(http.ErrAbortHandler) })
}

// Status answers with an HTTP status, an error in OpenAI's form, and headers
// given as names and values by turns.
func (r *Rule) Status(code int, headers ...string) *Rule {
	return r.StatusBody(code, fmt.Sprintf(`{"error":{"message":"scripted %s","type":"scripted","code":%d}}`,
		http.StatusText(code), code), headers...)
}

// StatusBody is Status with the given body.
func (r *Rule) StatusBody(code int, body string, headers ...string) *Rule {
	r.llm.tb.Helper()
	if len(headers)%2 != 0 {
		r.llm.tb.Fatalf("script status %d: a header without a value", code)
	}
	return r.fault(func(w http.ResponseWriter, _ *http.Request, _ Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	})
}

// HTML answers 200 with a web page, as a proxy or a wrong URL does.
func (r *Rule) HTML() *Rule {
	return r.body("text/html; charset=utf-8", "<html><body>It works!</body></html>")
}

// EmptyChoices answers with no choice.
func (r *Rule) EmptyChoices() *Rule {
	return r.body("application/json",
		`{"object":"chat.completion","model":"scripted","choices":[],`+
			`"usage":{"prompt_tokens":7,"completion_tokens":0}}`)
}

// NullContent answers with a message whose content is null.
func (r *Rule) NullContent() *Rule {
	return r.body("application/json",
		`{"object":"chat.completion","model":"scripted","choices":[{"index":0,"message":{"role":"assistant",`+
			`"content":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1}}`)
}

// HalfJSON answers with the first half of an answer.
func (r *Rule) HalfJSON() *Rule {
	return r.body("application/json",
		`{"object":"chat.completion","model":"scripted","choices":[{"index":0,"message":{"role":"assistant","cont`)
}

// Garbage answers 200 with n bytes that are no JSON.
func (r *Rule) Garbage(n int) *Rule {
	return r.body("application/octet-stream", strings.Repeat("\xff\x00~", n/3+1)[:n])
}

// Hang takes the request and never answers, until the client goes or the test
// ends.
func (r *Rule) Hang() *Rule {
	return r.fault(func(_ http.ResponseWriter, hr *http.Request, _ Request) {
		select {
		case <-hr.Context().Done():
		case <-r.llm.ended:
		}
		panic(http.ErrAbortHandler)
	})
}

// CutStream sends pieces of a text, then breaks the connection. Asked without
// streaming, it breaks off in the middle of the JSON.
func (r *Rule) CutStream(pieces ...string) *Rule {
	return r.fault(func(w http.ResponseWriter, _ *http.Request, req Request) {
		if req.Stream {
			s := newStream(w, req)
			for _, p := range pieces {
				s.piece(p, nil)
			}
		} else {
			w.Header().Set("Content-Length", "1000000")
			io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"`+
				strings.Join(pieces, ""))
			http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	})
}

func (r *Rule) body(contentType, body string) *Rule {
	return r.fault(func(w http.ResponseWriter, _ *http.Request, _ Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	})
}

func (r *Rule) fault(serve func(http.ResponseWriter, *http.Request, Request)) *Rule {
	return r.add(step{serve: serve})
}
