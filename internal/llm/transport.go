package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/triplemesh/triplemesh/internal/llm/dialect"
	"github.com/triplemesh/triplemesh/internal/llm/guard"
)

const (
	// maxHeaderBytes of a response; no model server sends more.
	maxHeaderBytes = 64 << 10
	// maxErrorBytes are read of an error response.
	maxErrorBytes = 64 << 10
)

var errRedirect = errors.New("answer is a redirect")

// exchange is one request to an endpoint, and what the transport learns from its response.
type exchange struct {
	task string
	// zeroTemperature adds a temperature of 0, which the library omits, so that servers would
	// sample with a default of their own (0.8 in llama-server).
	zeroTemperature bool
	prompt          guard.Prompt // text that the server must not repeat
	// onAnswer is called when an answer begins; may be nil.
	onAnswer func()

	sent        atomic.Bool // wholly, so that the server may be at work
	responded   bool        // with any status
	answered    bool        // the status was 200
	contentType string
	retryAfter  time.Duration
}

type exchangeKey struct{}

// transport is the http.RoundTripper below the OpenAI client: it bounds responses, translates them
// from the server's dialect, and records in the exchange what the library does not report.
type transport struct {
	base             http.RoundTripper
	maxResponseBytes int64
}

// newTransport returns the connections to one endpoint.
func newTransport(cfg Config) *transport {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = cfg.MaxInFlight
	base.MaxResponseHeaderBytes = maxHeaderBytes
	if cfg.Dial != nil {
		base.DialContext, base.Proxy = cfg.Dial, nil
	}
	return &transport{base, cfg.MaxResponseBytes}
}

func (t *transport) client(e Endpoint) *openai.Client {
	cfg := openai.DefaultConfig(e.APIKey)
	cfg.BaseURL = e.BaseURL
	cfg.HTTPClient = &http.Client{Transport: t}
	return openai.NewClientWithConfig(cfg)
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return nil, errors.New("the request belongs to no exchange")
	}
	ctx, cancel := context.WithCancel(req.Context())
	resp, err := t.send(ctx, req, x)
	if err != nil {
		cancel()
		return nil, err
	}
	x.responded = true
	x.contentType, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if x.answered = resp.StatusCode == http.StatusOK; x.answered {
		if x.onAnswer != nil {
			x.onAnswer()
		}
		streamed := req.Header.Get("Accept") == "text/event-stream"
		resp.Body = dialect.NewBody(resp.Body, t.maxResponseBytes, streamed, cancel)
		return resp, nil
	}
	defer cancel()
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, errRedirect
	}
	x.retryAfter = parseRetryAfter(resp.Header)
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes)) // the status alone suffices
	if resp.StatusCode < 300 {                                      // not an error to the library
		return nil, &openai.APIError{HTTPStatusCode: resp.StatusCode, Message: string(body)}
	}
	resp.Body = io.NopCloser(bytes.NewReader(dialect.NormaliseError(body)))
	return resp, nil
}

// send sends the library's request as the exchange wants it.
func (t *transport) send(ctx context.Context, req *http.Request, x *exchange) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return nil, err
	}
	if x.zeroTemperature {
		body = append([]byte(`{"temperature":0,`), bytes.TrimPrefix(body, []byte("{"))...)
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) {
		x.sent.Store(i.Err == nil)
	}})
	out, err := http.NewRequestWithContext(ctx, req.Method, req.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = req.Header.Clone()
	// So that a server's log can tell tasks apart.
	out.Header.Set("User-Agent", "triplemesh/"+x.task)
	return t.base.RoundTrip(out)
}

// isAlive lists the models, which costs a server nothing. Any answer is a sign of life except an
// error of the server's own.
func (t *transport) isAlive(ctx context.Context, e Endpoint) bool {
	url := strings.TrimRight(e.BaseURL, "/") + "/models"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	if e.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.APIKey)
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode < http.StatusInternalServerError && resp.StatusCode != http.StatusTooManyRequests
}
