package http_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
)

func TestWhatADoorSendsAlong(t *testing.T) {
	var sent metadata.MD
	var id string
	var span trace.SpanContext
	r := start(t, nil, answering(func(_ http.ResponseWriter, r *http.Request) {
		sent, _ = metadata.FromOutgoingContext(r.Context())
		id = telemetry.RequestID(r.Context())
		span = trace.SpanContextFromContext(r.Context())
	}))
	t.Run("is the token, the address, the trace and the request's id", func(t *testing.T) {
		resp, _ := r.do(t, http.MethodGet, "/", "", "Authorization: Bearer abc", "X-Request-Id: r-17",
			"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		if got := sent.Get("authorization"); len(got) != 1 || got[0] != "Bearer abc" {
			t.Errorf("the token is %q", got)
		}
		if got := sent.Get("triplemesh-peer"); len(got) != 1 || !strings.HasPrefix(got[0], "127.0.0.1:") {
			t.Errorf("the address is %q", got)
		}
		if id != "r-17" || resp.Header.Get("X-Request-Id") != "r-17" {
			t.Errorf("the request's id is %q, and %q is told", id, resp.Header.Get("X-Request-Id"))
		}
		if span.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("the trace is %s", span.TraceID())
		}
	})
	t.Run("is nothing else that a caller claims", func(t *testing.T) {
		r.do(t, http.MethodGet, "/", "", "Triplemesh-Tenant: acme", "Grpc-Metadata-Triplemesh-Tenant: acme",
			"Triplemesh-Peer: 1.2.3.4:5", "X-Forwarded-For: 1.2.3.4", "X-Request-Id: <b>")
		if len(sent) != 1 || len(sent.Get("triplemesh-peer")) != 1 || strings.HasPrefix(sent.Get("triplemesh-peer")[0],
			"1.2.3.4") {
			t.Errorf("got %v", sent)
		}
		if id == "<b>" || id == "" {
			t.Errorf("the request's id is %q", id)
		}
	})
	t.Run("is no token that metadata cannot have", func(t *testing.T) {
		r.do(t, http.MethodGet, "/", "", "Authorization: Bearer caf\xc3\xa9")
		if got := sent.Get("authorization"); len(got) != 1 || strings.HasPrefix(got[0], "Bearer") {
			t.Errorf("got %q", got)
		}
	})
}

func TestTheAccessLogKeepsSecrets(t *testing.T) {
	r := start(t, nil, reading, web.Route{Pattern: "/assets/", Handler: http.NotFoundHandler(), Files: true})
	r.do(t, http.MethodPost, "/api?query=secret-word", "secret-body", "Authorization: Bearer secret-token")
	r.do(t, http.MethodGet, "/assets/x.js", "")
	log := r.log.String()
	for _, never := range []string{"secret-word", "secret-body", "secret-token"} {
		if strings.Contains(log, never) {
			t.Errorf("the log has %q: %s", never, log)
		}
	}
	if !strings.Contains(log, `"method":"POST","path":"/api","status":200`) {
		t.Errorf("the log lacks the request: %s", log)
	}
}

func TestADoorThatPanics(t *testing.T) {
	r := start(t, nil,
		web.Route{Pattern: "/at-once",
			Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("the cause") })},
		web.Route{Pattern: "/later", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			panic("the cause")
		})},
	)
	resp, body := r.do(t, http.MethodGet, "/at-once", "")
	if resp.StatusCode != http.StatusInternalServerError || !strings.Contains(body, `"code":"INTERNAL"`) ||
		strings.Contains(body, "the cause") {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	if log := r.log.String(); !strings.Contains(log, "the cause") || !strings.Contains(log, "http_test.go") {
		t.Errorf("the log lacks the panic: %s", log)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/later", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		defer resp.Body.Close()
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("half an answer looks like a whole one")
		}
	}
	if resp, _ := r.do(t, http.MethodGet, "/at-once", ""); resp.StatusCode != http.StatusInternalServerError {
		t.Error("the server did not go on")
	}
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	r := start(t, nil, answering(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			w.Header().Set("Content-Security-Policy", "default-src 'self'")
		}
	}))
	for path, policy := range map[string]string{"/": "default-src 'none'; frame-ancestors 'none'",
		"/page": "default-src 'self'"} {
		resp, _ := r.do(t, http.MethodGet, path, "")
		if got := resp.Header.Get("Content-Security-Policy"); got != policy {
			t.Errorf("%s has the policy %q", path, got)
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" ||
			resp.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s has %v", path, resp.Header)
		}
	}
	resp, _ := r.do(t, http.MethodGet, "/", "", "Host: evil.example")
	if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("X-Request-Id") == "" {
		t.Errorf("a refusal has %v", resp.Header)
	}
}

func TestGoingDown(t *testing.T) {
	begun, let := make(chan string, 2), make(chan struct{})
	endless := answering(func(w http.ResponseWriter, r *http.Request) {
		begun <- r.URL.Path
		if r.URL.Path == "/endless" {
			<-r.Context().Done()
			_, _ = io.WriteString(w, "the server goes down")
			return
		}
		<-let
		_, _ = io.WriteString(w, "whole")
	})
	endless.Endless = func(r *http.Request) bool { return r.URL.Path == "/endless" }
	r := start(t, nil, endless)
	answers := make(chan string, 2)
	for _, path := range []string{"/endless", "/answer"} {
		go func() {
			_, body := r.do(t, http.MethodGet, path, "")
			answers <- body
		}()
	}
	<-begun
	<-begun
	down := make(chan struct{})
	go func() {
		defer close(down)
		r.Shutdown(t.Context())
	}()
	if got := <-answers; got != "the server goes down" {
		t.Errorf("what lasts for ever ends with %q", got)
	}
	select {
	case <-down:
		t.Error("an answer under way was not waited for")
	default:
	}
	close(let)
	if got := <-answers; got != "whole" {
		t.Errorf("what was under way ends with %q", got)
	}
	<-down
	if err := <-r.served; err != nil {
		t.Error(err)
	}
	r.served <- nil
}

func TestWhatDoesNotEndIsCut(t *testing.T) {
	begun := make(chan struct{})
	ended := make(chan error, 1)
	r := start(t, nil, answering(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		ended <- r.Context().Err()
	}))
	c := r.raw(t)
	c.say(t, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	r.Shutdown(ctx)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("its context has not ended")
	}
}
