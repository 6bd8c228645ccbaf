package http_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
)

func TestBodies(t *testing.T) {
	door := reading
	door.Uploads = func(r *http.Request) bool { return r.URL.Path == "/upload" }
	r := start(t, func(c *web.Config) { c.MaxBodyBytes, c.MaxUploadBytes = 100, 1000 }, door)
	for _, test := range []struct {
		name, path string
		size       int
		status     int
	}{
		{"one that is small enough is read", "/", 100, 200},
		{"one that says it is too large is refused before it comes", "/", 101, 413},
		{"a file may be larger", "/upload", 1000, 200},
		{"but not without end", "/upload", 1001, 413},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp, body := r.do(t, http.MethodPost, test.path, strings.Repeat("x", test.size))
			if resp.StatusCode != test.status {
				t.Errorf("got %d %s", resp.StatusCode, body)
			}
		})
	}
	t.Run("one that does not say how large it is ends at the bound", func(t *testing.T) {
		c := r.raw(t)
		c.say(t, "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"+
			strings.Repeat("32\r\n"+strings.Repeat("x", 0x32)+"\r\n", 3))
		if resp, _ := c.answer(t); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("got %d", resp.StatusCode)
		}
		c.closed(t)
	})
}

// TestBodiesReadBesideTheResponse has another goroutine read the body, as an upload does.
func TestBodiesReadBesideTheResponse(t *testing.T) {
	r := start(t, func(c *web.Config) { c.MaxBodyBytes = 10 }, answering(func(w http.ResponseWriter, r *http.Request) {
		read := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, r.Body)
			read <- err
		}()
		w.Header().Set("X-Here", "set meanwhile")
		err := <-read
		select {
		case <-r.Context().Done():
			err = fmt.Errorf("the request was cancelled before it was said why: %w", context.Cause(r.Context()))
		case <-time.After(50 * time.Millisecond):
		}
		_, _ = io.WriteString(w, err.Error())
	}))
	c := r.raw(t)
	c.say(t, "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nabcdefghijk\r\n0\r\n\r\n")
	if resp, body := c.answer(t); resp.Header.Get("X-Here") == "" || body != "http: request body too large" {
		t.Errorf("got %v %q", resp.Header, body)
	}
}

// quick is impatient.
func quick(c *web.Config) {
	c.HeaderTimeout, c.ReadTimeout, c.WriteTimeout, c.IdleTimeout = 50*time.Millisecond, 50*time.Millisecond,
		50*time.Millisecond, 50*time.Millisecond
}

func TestSlowClients(t *testing.T) {
	t.Run("who say nothing are cut off", func(t *testing.T) { start(t, quick, reading).raw(t).closed(t) })
	t.Run("who do not end their header are cut off", func(t *testing.T) {
		c := start(t, quick, reading).raw(t)
		c.say(t, "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ")
		c.closed(t)
	})
	t.Run("who do not end their body are cut off", func(t *testing.T) {
		c := start(t, quick, reading).raw(t)
		c.say(t, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
		if resp, _ := c.answer(t); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("got %d", resp.StatusCode)
		}
		c.closed(t)
	})
	t.Run("whose body nobody reads are cut off", func(t *testing.T) {
		c := start(t, quick, answering(func(http.ResponseWriter, *http.Request) {})).raw(t)
		c.say(t, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
		c.closed(t)
	})
	t.Run("who ask nothing more are cut off", func(t *testing.T) {
		c := start(t, quick, reading).raw(t)
		c.say(t, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if resp, _ := c.answer(t); resp.StatusCode != http.StatusOK {
			t.Errorf("got %d", resp.StatusCode)
		}
		c.closed(t)
	})
	t.Run("who read nothing are cut off", func(t *testing.T) {
		ended := make(chan error, 1)
		c := start(t, quick, answering(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					ended <- err
					return
				}
			}
		})).raw(t)
		c.say(t, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if err := <-ended; err == nil {
			t.Error("the door writes for ever")
		}
	})
	t.Run("who wait for a long answer are not", func(t *testing.T) {
		resp, body := start(t, quick, answering(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
			case <-time.After(200 * time.Millisecond): // four times every bound
				_, _ = io.WriteString(w, "whole")
			}
		})).do(t, http.MethodPost, "/", "question")
		if resp.StatusCode != http.StatusOK || body != "whole" {
			t.Errorf("got %d %q", resp.StatusCode, body)
		}
	})
}

func TestACallerWhoGoesAwayEndsTheirRequest(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	c := start(t, nil, answering(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(begun)
		<-r.Context().Done()
		ended <- r.Context().Err()
	})).raw(t)
	c.say(t, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
	<-begun
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("its client is gone, and it continues")
	}
}

func TestTooManyRequests(t *testing.T) {
	begun, let := make(chan struct{}, 2), make(chan struct{})
	r := start(t, func(c *web.Config) { c.MaxStreams = 2 }, answering(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			begun <- struct{}{}
			<-let
		}
	}))
	var waiting []raw
	for range 2 {
		c := r.raw(t)
		c.say(t, "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
		<-begun
		waiting = append(waiting, c)
	}
	resp, body := r.do(t, http.MethodGet, "/", "")
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" ||
		!strings.Contains(body, "max_streams") {
		t.Errorf("one too many is answered %d %v: %s", resp.StatusCode, resp.Header, body)
	}
	close(let)
	for _, c := range waiting {
		if resp, _ := c.answer(t); resp.StatusCode != http.StatusOK {
			t.Errorf("one that was let in is answered %d", resp.StatusCode)
		}
	}
	if resp, _ := r.do(t, http.MethodGet, "/", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", resp.StatusCode)
	}
}

func TestTooManyConnections(t *testing.T) {
	r := start(t, func(c *web.Config) { c.MaxConnections = 2 }, reading)
	open := []raw{r.raw(t), r.raw(t)}
	for _, c := range open {
		c.say(t, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if resp, _ := c.answer(t); resp.StatusCode != http.StatusOK {
			t.Fatalf("got %d", resp.StatusCode)
		}
	}
	c := r.raw(t)
	resp, text := c.answer(t)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" ||
		!strings.Contains(text, `"code":"RESOURCE_EXHAUSTED"`) {
		t.Errorf("one too many is answered %d %v %s", resp.StatusCode, resp.Header, text)
	}
	c.closed(t)
	open[0].say(t, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	open[0].closed(t)
	if resp, _ := r.do(t, http.MethodGet, "/", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("when one has gone: %d", resp.StatusCode)
	}
}

func TestHeadersHaveABound(t *testing.T) {
	c := start(t, nil, reading).raw(t)
	c.say(t, fmt.Sprintf("GET / HTTP/1.1\r\nHost: localhost\r\nX-A: %s\r\n\r\n", strings.Repeat("x", 64<<10)))
	if resp, _ := c.answer(t); resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %d", resp.StatusCode)
	}
}
