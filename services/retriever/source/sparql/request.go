package sparql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

// maxWait is the longest that an endpoint may ask to be left alone.
const maxWait = 2 * time.Minute

// headBytes is how much of an answer that is an error is shown.
const headBytes = 300

// passing is an error that may not come again.
type passing struct {
	err error
	// after is how long to wait; 0 leaves it to the caller.
	after time.Duration
}

func (p passing) Error() string { return p.err.Error() }
func (p passing) Unwrap() error { return p.err }

// retried calls until it works, the error is no passing one, or there were
// enough attempts.
func (c Config) retried(ctx context.Context, call func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := func() error {
			ctx, cancel := context.WithTimeout(ctx, c.Timeout)
			defer cancel()
			return call(ctx)
		}()
		var again passing
		if err == nil || !errors.As(err, &again) || ctx.Err() != nil {
			return err
		}
		if attempt == c.Attempts {
			return fmt.Errorf("%d attempts failed, the last one: %w", attempt, err)
		}
		wait := again.after
		if wait <= 0 {
			wait = time.Second << min(attempt-1, 5)
		}
		if wait > maxWait {
			return fmt.Errorf("it asks to be left alone for %s, at most %s are waited: %w", wait, maxWait, err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// page sends one query and hands out the statements of its answer.
func (c Config) page(ctx context.Context, offset uint64, take func(row uint64, q rdf.Quad) error) (uint64, error) {
	form := url.Values{"query": {c.query(offset)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/sparql-results+json")
	req.Header.Set("User-Agent", "triplemesh")
	if c.User != "" || c.Password != "" {
		req.SetBasicAuth(c.User, c.Password)
	}
	res, err := c.Client.Do(req)
	if err != nil {
		return 0, passing{err: err}
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, refused(res)
	}
	if state := res.Header.Get("X-SQL-State"); state != "" {
		return 0, fmt.Errorf("the answer is not whole (%s: %.200s); ask for smaller pages", state, res.Header.Get("X-SQL-Message"))
	}
	body := &bounded{r: res.Body, left: c.MaxBytes}
	rows, err := results(body, take)
	if err != nil && body.err != nil {
		return rows, body.err
	}
	return rows, err
}

// refused makes an error of an answer that holds no results.
func refused(res *http.Response) error {
	head, _ := io.ReadAll(io.LimitReader(res.Body, headBytes))
	err := fmt.Errorf("status %s: %.300q", res.Status, head)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return passing{err, retryAfter(res.Header.Get("Retry-After"), time.Now())}
	}
	return err
}

// retryAfter reads seconds or a date (RFC 9110, §10.2.3).
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return date.Sub(now)
	}
	return 0
}

// bounded is an answer of so many bytes at most.
type bounded struct {
	r    io.Reader
	left int64
	// err is what kept the answer from being read whole.
	err error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.err = errors.New("the answer is too large; ask for smaller pages")
		return 0, b.err
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		b.err = passing{err: err}
	}
	return n, err
}
