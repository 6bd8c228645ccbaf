package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm/completion"
	"github.com/triplemesh/triplemesh/internal/llm/guard"
)

const (
	// mostHeaderBytes of an answer; what is longer is no model server's.
	mostHeaderBytes = 64 << 10
	// mostErrorBytes are read of an answer that is an error.
	mostErrorBytes = 64 << 10
)

var (
	errTooLarge = errors.New("answer is too large")
	errRedirect = errors.New("answer is a redirect")
)

// exchange is one request to an endpoint and what came of it.
type exchange struct {
	told        guard.Told // what the server must not repeat
	answered    bool       // the server said 200
	contentType string
	begun       func() // is called when it does; nil for nothing
}

// wireClient is the way to one endpoint.
type wireClient struct {
	client  http.Client
	baseURL string
	apiKey  string
}

func newWireClient(e Endpoint, cfg Config) *wireClient {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = cfg.MaxInFlight
	t.MaxResponseHeaderBytes = mostHeaderBytes
	if cfg.Dial != nil {
		t.DialContext, t.Proxy = cfg.Dial, nil
	}
	return &wireClient{
		baseURL: strings.TrimRight(e.BaseURL, "/"), apiKey: e.APIKey,
		client: http.Client{
			Transport: t,
			// A redirected POST becomes a GET or takes the key elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// statusError is an answer that is none.
type statusError struct {
	code    int
	failure *completion.Failure
	pause   pause
}

func (s *statusError) Error() string { return fmt.Sprintf("%d: %v", s.code, s.failure) }

// post sends a request and returns the body of its answer, of at most so many
// bytes.
func (w *wireClient) post(ctx context.Context, body []byte, task string, stream bool, most int64, x *exchange) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.baseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if stream {
		req.Header.Set("Accept", "text/event-stream")
	}
	// So that a server's log can tell tasks apart.
	req.Header.Set("User-Agent", "triplemesh/"+task)
	resp, err := w.send(req)
	if err != nil {
		return nil, err
	}
	x.contentType, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if x.answered = resp.StatusCode == http.StatusOK; x.answered {
		if x.begun != nil {
			x.begun()
		}
		return &boundedBody{resp.Body, most}, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, errRedirect
	}
	said, err := io.ReadAll(io.LimitReader(resp.Body, mostErrorBytes))
	if err != nil && len(said) == 0 {
		said = nil // the status says enough
	}
	return nil, &statusError{resp.StatusCode, completion.ParseFailure(said), pauseOf(resp.Header)}
}

// isAlive asks for the list of models, which costs a server nothing. Whatever it
// answers, it answers; but not with an error of its own.
func (w *wireClient) isAlive(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.baseURL+"/models", nil)
	if err != nil {
		return false
	}
	resp, err := w.send(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode < http.StatusInternalServerError && resp.StatusCode != http.StatusTooManyRequests
}

func (w *wireClient) send(req *http.Request) (*http.Response, error) {
	if w.apiKey != "" {
		req.Header.Set("Authorization", "Bearer "+w.apiKey)
	}
	return w.client.Do(req)
}

// boundedBody fails when a server sends more than it may.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
