package http_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a server under test.
type running struct {
	*web.Server
	addr, url string
	log       *testkit.Log
	served    chan error
}

// start serves routes on a loopback port until the test ends.
func start(t testing.TB, set func(*web.Config), routes ...web.Route) *running {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := web.DefaultConfig()
	cfg.Listener = lis
	if set != nil {
		set(&cfg)
	}
	log := &testkit.Log{}
	tel, err := telemetry.Start(t.Context(), telemetry.Config{LogLevel: "debug", LogFormat: "json", LogWriter: log},
		"orchestrator")
	if err != nil {
		t.Fatal(err)
	}
	s, err := web.New(cfg, nil, tel, routes...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	r := &running{Server: s, addr: lis.Addr().String(), url: "http://" + lis.Addr().String(), log: log,
		served: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.served <- s.Serve()
	}()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s.Shutdown(ctx)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
		if err := tel.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// answering returns a route with a handler function.
func answering(f http.HandlerFunc) web.Route { return web.Route{Pattern: "/", Handler: f} }

// reading returns a route that reads the whole body.
var reading = answering(func(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%d bytes", n)
})

// get asks with headers, as NAME: VALUE, and returns the answer with its body.
func (r *running) do(t testing.TB, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// raw is a connection on which a test says what no client says.
type raw struct {
	net.Conn
	*bufio.Reader
}

func (r *running) raw(t testing.TB) raw {
	t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return raw{conn, bufio.NewReader(conn)}
}

// Read reads what the server says.
func (c raw) Read(p []byte) (int, error) { return c.Reader.Read(p) }

func (c raw) say(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(c.Conn, text); err != nil {
		t.Fatal(err)
	}
}

// answer is the next answer and its body.
func (c raw) answer(t testing.TB) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(c.Reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) { // which it is where the server read not all that was sent
		t.Fatal(err)
	}
	return resp, string(body)
}

// closed waits until the server closes the connection.
func (c raw) closed(t testing.TB) {
	t.Helper()
	if _, err := io.Copy(io.Discard, c.Reader); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection is open: %v", err)
	}
}
