package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// exchange is what the client library does not pass on between an attempt and
// its HTTP request and response. It travels in the context.
type exchange struct {
	// zeroTemperature sends temperature 0, which the library leaves out, so that
	// servers would sample with a default of their own (0.8 in llama-server).
	zeroTemperature bool
	maxBytes        int64
	// task goes into the User-Agent, so that a server's log can tell tasks apart.
	task string

	answered    bool // the server said 200
	contentType string
	retryAfter  time.Duration
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// contentType of the answer to a context's request.
func contentType(ctx context.Context) string {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x.contentType
}

var (
	errTooLarge = errors.New("answer is too large")
	errHTML     = errors.New("answer is a web page")
	errRedirect = errors.New("answer is a redirect")
)

// doer sends the library's requests with what an exchange adds.
type doer struct{ client http.Client }

func newDoer(cfg Config) *doer {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = cfg.MaxInFlight
	if cfg.Dial != nil {
		t.DialContext, t.Proxy = cfg.Dial, nil
	}
	return &doer{client: http.Client{
		Transport: t,
		// A redirected POST becomes a GET or takes the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do implements openai.HTTPDoer.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("request without an exchange")
	}
	if x.zeroTemperature {
		if err := addZeroTemperature(req); err != nil {
			return nil, err
		}
	}
	req.Header.Set("User-Agent", "triplemesh/"+x.task)
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	x.retryAfter = retryAfter(resp.Header, time.Now())
	x.contentType, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: x.maxBytes}
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		err = errRedirect
	case resp.StatusCode == http.StatusOK && x.contentType == "text/html":
		err = errHTML
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	x.answered = resp.StatusCode == http.StatusOK
	return resp, nil
}

// addZeroTemperature puts the field in front of the others.
func addZeroTemperature(req *http.Request) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	body = append([]byte(`{"temperature":0,`), bytes.TrimPrefix(body, []byte("{"))...)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
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

// retryAfter reads how long a server wants to be left alone: OpenAI's
// retry-after-ms, or Retry-After in seconds or as a date (RFC 9110, 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 32); err == nil {
		return time.Duration(max(ms, 0)) * time.Millisecond
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseInt(v, 10, 32); err == nil {
		return time.Duration(max(s, 0)) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
