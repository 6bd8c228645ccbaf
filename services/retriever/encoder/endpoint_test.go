package encoder

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// serve answers requests by turn: the first by the first handler and so on,
// the last one for ever.
func serve(t *testing.T, handlers ...http.HandlerFunc) (EndpointConfig, *atomic.Int32) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(calls.Add(1)) - 1
		handlers[min(n, len(handlers)-1)](w, r)
	}))
	t.Cleanup(server.Close)
	return EndpointConfig{BaseURL: server.URL + "/v1", APIKey: "secret-key", Model: "embed", Dims: 3, Retries: 2,
		RetryDelay: time.Millisecond}, &calls
}

type request struct {
	Input []string
	Model string
}

// serveVectors answers with (length of the text, 4, 0), last text first.
func serveVectors(w http.ResponseWriter, r *http.Request) {
	var req request
	if r.URL.Path != "/v1/embeddings" || json.NewDecoder(r.Body).Decode(&req) != nil || req.Model != "embed" ||
		r.Header.Get("Authorization") != "Bearer secret-key" {
		http.Error(w, "not what was agreed", http.StatusTeapot)
		return
	}
	var data []string
	for i := len(req.Input) - 1; i >= 0; i-- {
		data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,4,0]}`, i, len(req.Input[i])))
	}
	respond(`{"data":[`+strings.Join(data, ",")+`]}`)(w, r)
}

func respond(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

func failWith(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"error":{"message":"no"}}`))
	}
}

func TestEncodeKeepsTheOrderOverBatches(t *testing.T) {
	cfg, calls := serve(t, serveVectors)
	cfg.BatchSize = 2
	e, err := OpenEndpoint(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Encode(t.Context(), []string{"abc", "", "a", "ab", "abcd"})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []float64{3, 0, 1, 2, 4} {
		length := math.Sqrt(n*n + 16)
		if len(got[i]) != 3 || math.Abs(float64(got[i][0])-n/length) > 1e-6 ||
			math.Abs(float64(got[i][1])-4/length) > 1e-6 {
			t.Errorf("vector %d is %v", i, got[i])
		}
	}
	if calls.Load() != 3 {
		t.Errorf("%d requests, want 3", calls.Load())
	}
	if got, err := e.Encode(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("nothing to encode: %v, error %v", got, err)
	}
}

func TestNewRequestsTheDimensions(t *testing.T) {
	cfg, _ := serve(t, serveVectors)
	cfg.Dims = 0
	e, err := OpenEndpoint(t.Context(), cfg)
	if err != nil || e.Dims() != 3 || e.Name() != "embed" {
		t.Fatalf("%+v, error %v", e, err)
	}
	for _, bad := range []EndpointConfig{{Model: "embed"}, {BaseURL: cfg.BaseURL}} {
		if _, err := OpenEndpoint(t.Context(), bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	down, _ := serve(t, failWith(http.StatusInternalServerError))
	down.Dims = 0
	if _, err := OpenEndpoint(t.Context(), down); status.Code(err) != codes.Unavailable {
		t.Errorf("an endpoint that is down: %v", err)
	}
}

func TestFailures(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) {
		// A server notices a closed connection only after reading the request.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	for name, c := range map[string]struct {
		handlers []http.HandlerFunc
		code     codes.Code
		calls    int32
	}{
		"429 and then an answer":       {[]http.HandlerFunc{failWith(429), serveVectors}, codes.OK, 2},
		"500 twice and then an answer": {[]http.HandlerFunc{failWith(500), failWith(503), serveVectors}, codes.OK, 3},
		"429 for ever":                 {[]http.HandlerFunc{failWith(429)}, codes.ResourceExhausted, 3},
		"500 for ever":                 {[]http.HandlerFunc{failWith(500)}, codes.Unavailable, 3},
		"a wrong key is not repeated":  {[]http.HandlerFunc{failWith(401)}, codes.FailedPrecondition, 1},
		"HTML":                         {[]http.HandlerFunc{respond("<html>")}, codes.Unavailable, 3},
		"too few vectors": {[]http.HandlerFunc{respond(`{"data":[{"index":0,"embedding":[1,0,0]}]}`)},
			codes.Unavailable, 1},
		"one vector twice": {
			[]http.HandlerFunc{respond(`{"data":[{"index":0,"embedding":[1,0,0]},{"index":0,"embedding":[1,0,0]}]}`)},
			codes.Unavailable, 1},
		"a number out of range": {[]http.HandlerFunc{respond(`{"data":[{"index":7,"embedding":[1,0,0]}]}`)},
			codes.Unavailable, 1},
		"other dimensions": {[]http.HandlerFunc{
			respond(`{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1,0]}]}`)}, codes.Unavailable, 1},
		"a vector of zeros": {
			[]http.HandlerFunc{respond(`{"data":[{"index":0,"embedding":[1,0,0]},{"index":1,"embedding":[0,0,0]}]}`)},
			codes.Unavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, calls := serve(t, c.handlers...)
			e, err := OpenEndpoint(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Encode(t.Context(), []string{"a", "b"})
			if status.Code(err) != c.code {
				t.Errorf("got %v, want %v", err, c.code)
			}
			if calls.Load() != c.calls {
				t.Errorf("%d requests, want %d", calls.Load(), c.calls)
			}
			if err != nil && (strings.Contains(err.Error(), "secret-key") || !strings.Contains(err.Error(),
				cfg.BaseURL)) {
				t.Errorf("the error shows the key or hides the endpoint: %v", err)
			}
		})
	}
	t.Run("a caller who goes", func(t *testing.T) {
		arrived := make(chan struct{}, 1)
		cfg, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { arrived <- struct{}{}; hang(w, r) })
		e, err := OpenEndpoint(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		if _, err := e.Encode(ctx, []string{"a"}); status.Code(err) != codes.Canceled {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an endpoint that hangs", func(t *testing.T) {
		cfg, calls := serve(t, hang)
		cfg.Timeout, cfg.Retries = 20*time.Millisecond, 1
		e, err := OpenEndpoint(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Encode(t.Context(), []string{"a"}); status.Code(err) != codes.DeadlineExceeded &&
			status.Code(err) != codes.Unavailable {
			t.Errorf("got %v", err)
		}
		if calls.Load() != 2 {
			t.Errorf("%d requests, want 2", calls.Load())
		}
	})
	t.Run("an endpoint that is down", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		e, err := OpenEndpoint(t.Context(), EndpointConfig{BaseURL: server.URL, Model: "embed", Dims: 3, Retries: 1,
			RetryDelay: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Encode(t.Context(), []string{"a"}); status.Code(err) != codes.Unavailable {
			t.Errorf("got %v", err)
		}
	})
}
