package sparql

import (
	"context"
	"encoding/json"
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

// temporaryError is an error that may not come again.
type temporaryError struct {
	err error
	// after is how long to wait; 0 leaves it to the caller.
	after time.Duration
}

func (p temporaryError) Error() string { return p.err.Error() }
func (p temporaryError) Unwrap() error { return p.err }

// retry calls until it works, the error is no passing one, or there were enough attempts.
func (c Config) retry(ctx context.Context, call func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := func() error {
			ctx, cancel := context.WithTimeout(ctx, c.Timeout)
			defer cancel()
			return call(ctx)
		}()
		var again temporaryError
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
			return fmt.Errorf("the endpoint asks for a pause of %s, the limit is %s: %w", wait, maxWait, err)
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

// fetchPage sends one query and returns the statements of its answer.
func (c Config) fetchPage(ctx context.Context, offset uint64, take func(row uint64, q rdf.Quad) error) (uint64, error) {
	form := url.Values{"query": {c.pageQuery(offset)}}
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
		return 0, temporaryError{err: err}
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, statusError(res)
	}
	if state := res.Header.Get("X-SQL-State"); state != "" {
		return 0, fmt.Errorf("the answer is not whole (%s: %.200s); ask for smaller pages", state,
			res.Header.Get("X-SQL-Message"))
	}
	body := &boundedReader{r: res.Body, remaining: c.MaxBytes}
	rows, err := readResults(body, take)
	if err != nil && body.err != nil {
		return rows, body.err
	}
	return rows, err
}

// statusError makes an error of an answer that holds no results.
func statusError(res *http.Response) error {
	head, _ := io.ReadAll(io.LimitReader(res.Body, headBytes))
	err := fmt.Errorf("status %s: %.300q", res.Status, head)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return temporaryError{err, retryAfter(res.Header.Get("Retry-After"), time.Now())}
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

// boundedReader is an answer of so many bytes at most.
type boundedReader struct {
	r         io.Reader
	remaining int64
	// err is what kept the answer from being read whole.
	err error
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		b.err = errors.New("the answer is too large; ask for smaller pages")
		return 0, b.err
	}
	if int64(len(p)) > b.remaining {
		p = p[:b.remaining]
	}
	n, err := b.r.Read(p)
	b.remaining -= int64(n)
	if err != nil && err != io.EOF {
		b.err = temporaryError{err: err}
	}
	return n, err
}

// value is a term in an answer (SPARQL 1.1 Query Results JSON Format, §3.2.2).
type value struct {
	Type     string `json:"type"`
	Value    string `json:"value"`
	Language string `json:"xml:lang"`
	Datatype string `json:"datatype"`
}

// readResults reads an answer as a stream and returns its rows, counted from 1.
func readResults(r io.Reader, take func(row uint64, q rdf.Quad) error) (rows uint64, err error) {
	d := json.NewDecoder(r)
	if err := seekMember(d, "results"); err != nil {
		return 0, err
	}
	if err := seekMember(d, "bindings"); err != nil {
		return 0, err
	}
	if err := expectDelimiter(d, '['); err != nil {
		return 0, err
	}
	for d.More() {
		var binding struct{ S, P, O *value }
		if err := d.Decode(&binding); err != nil {
			return rows, parseError(err)
		}
		rows++
		if binding.S == nil || binding.P == nil || binding.O == nil {
			return rows, fmt.Errorf("row %d of the answer lacks ?s, ?p or ?o; the pattern must bind all", rows)
		}
		var q rdf.Quad
		for _, part := range []struct {
			from *value
			into *rdf.Term
		}{{binding.S, &q.Subject}, {binding.P, &q.Predicate}, {binding.O, &q.Object}} {
			if *part.into, err = part.from.term(); err != nil {
				return rows, fmt.Errorf("row %d of the answer: %w", rows, err)
			}
		}
		if err := take(rows, q); err != nil {
			return rows, err
		}
	}
	// An answer that is cut off must not look like a short one.
	for _, end := range []json.Delim{']', '}'} {
		if err := expectDelimiter(d, end); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// seekMember goes into an object up to the value of one of its members.
func seekMember(d *json.Decoder, name string) error {
	if err := expectDelimiter(d, '{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return parseError(err)
		}
		if key == name {
			return nil
		}
		var other json.RawMessage
		if err := d.Decode(&other); err != nil {
			return parseError(err)
		}
	}
	return fmt.Errorf("the answer has no %q; is this a SPARQL endpoint?", name)
}

func expectDelimiter(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return parseError(err)
	}
	if token != want {
		return parseError(fmt.Errorf("want %q, got %.40q", want, fmt.Sprint(token)))
	}
	return nil
}

func parseError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return temporaryError{err: errors.New("the answer is cut off")}
	}
	return fmt.Errorf("the answer is not a SPARQL result in JSON: %w", err)
}

func (v value) term() (rdf.Term, error) {
	switch v.Type {
	case "uri":
		return rdf.Term{Text: v.Value}, nil
	case "bnode":
		return rdf.Term{Kind: rdf.Blank, Text: blankLabel(v.Value)}, nil
	case "literal", "typed-literal":
		t := rdf.Term{Kind: rdf.Literal, Text: v.Value, Language: v.Language}
		if v.Language == "" && v.Datatype != "http://www.w3.org/2001/XMLSchema#string" {
			t.Datatype = v.Datatype
		}
		return t, nil
	}
	return rdf.Term{}, fmt.Errorf("a term is of the unknown type %.40q", v.Type)
}

// blankLabel makes the label of a blank node one that N-Triples can hold: endpoints give IRIs too.
func blankLabel(text string) string {
	plain := make([]byte, 0, len(text))
	for _, c := range []byte(text) {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' {
			plain = append(plain, c)
		} else {
			plain = fmt.Appendf(plain, "_%02x", c)
		}
	}
	return string(plain)
}
