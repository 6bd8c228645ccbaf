package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

// retryAfter is the Retry-After of requests and connections over the limit.
const retryAfter = time.Second

// limitStreams turns requests away while limit others are under way.
func limitStreams(limit int) func(http.Handler) http.Handler {
	var open atomic.Int64
	return func(next http.Handler) http.Handler {
		if limit == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer open.Add(-1)
			if open.Add(1) > int64(limit) {
				// Do not read the body.
				w.Header().Set("Connection", "close")
				problem.Write(w, r, problem.New(http.StatusServiceUnavailable, codes.ResourceExhausted,
					fmt.Sprintf("%d requests are under way, the limit (orchestrator.http.max_streams); try again in %s",
						limit, retryAfter)).WithRetryAfter(retryAfter))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// endWith cancels endless requests at shutdown.
func endWith(table routes, down <-chan struct{}) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !table.find(r).endless(r) {
				next.ServeHTTP(w, r)
				return
			}
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			go func() {
				select {
				case <-down:
					cancel()
				case <-ctx.Done():
				}
			}()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// leastRate is the minimum rate of a body in bytes per second, after ReadTimeout.
const leastRate = 1 << 10

// boundBodies limits the size of bodies and how slowly they may arrive. A larger body is refused at
// once if its length is declared, else reading it fails with *http.MaxBytesError.
func boundBodies(cfg Config, table routes) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Body == nil || r.Body == http.NoBody {
				next.ServeHTTP(w, r)
				return
			}
			limit, setting := cfg.MaxBodyBytes, "max_body_bytes"
			if table.find(r).uploads(r) {
				limit, setting = cfg.MaxUploadBytes, "max_upload_bytes"
			}
			body := &body{
				ReadCloser: http.MaxBytesReader(w, r.Body, limit),
				control:    http.NewResponseController(w), until: time.Now().Add(cfg.ReadTimeout),
			}
			// This also covers handlers that do not read the body: the server then drains it.
			_ = body.control.SetReadDeadline(body.until)
			if r.ContentLength > limit {
				w.Header().Set("Connection", "close")
				drop(body.control)
				problem.Write(w, r, problem.New(http.StatusRequestEntityTooLarge, codes.InvalidArgument,
					fmt.Sprintf("the body has %d bytes: at most %d are taken (orchestrator.http.%s)", r.ContentLength,
						limit, setting)))
				return
			}
			r.Body = body
			next.ServeHTTP(w, r)
			if body.failed {
				drop(body.control)
			}
		})
	}
}

// body enforces the minimum rate of a request body.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	until   time.Time
	set     time.Time
	read    int64
	failed  bool
}

func (b *body) Read(p []byte) (int, error) {
	// Setting a deadline for each read would cost more than the reads.
	if until := b.until.Add(time.Duration(b.read) * time.Second / leastRate); until.Sub(b.set) > time.Second {
		b.set = until
		_ = b.control.SetReadDeadline(until)
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		// The next bytes are those of the next request.
		_ = b.control.SetReadDeadline(time.Time{})
	case err != nil:
		// Dropped after the response: until then a read error would cancel the request and hide what
		// is wrong. An upload is read beside the goroutine that responds, so nothing of w is set here.
		b.failed = true
	}
	return n, err
}

// drop makes the server close the connection instead of reading the rest of a body.
func drop(control *http.ResponseController) { _ = control.SetReadDeadline(time.Now()) }

// boundWrites disconnects clients that do not read their response.
func boundWrites(timeout time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&prompt{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}, r)
		})
	}
}

// prompt sets a deadline for each write.
type prompt struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (p *prompt) Write(data []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.timeout))
	return p.ResponseWriter.Write(data)
}

func (p *prompt) Flush() {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.timeout))
	_ = p.control.Flush()
}

// FlushError is for http.ResponseController.
func (p *prompt) FlushError() error {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.timeout))
	return p.control.Flush()
}

// Unwrap is for http.ResponseController.
func (p *prompt) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// turnedAway is the response to a connection over the limit.
const turnedAway = "HTTP/1.1 503 Service Unavailable\r\n" +
	"Retry-After: %d\r\nConnection: close\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n\r\n%s"

// turnedAwayBody is constant, so that refusing costs nothing.
const turnedAwayBody = `{"type":"about:blank","title":"Service Unavailable","status":503,` +
	`"detail":"there are too many connections (orchestrator.http.max_connections); try again in a second",` +
	`"code":"RESOURCE_EXHAUSTED","retryAfter":1}` + "\n"

// limitConnections closes connections beyond the limit. Plain ones get status 503.
func limitConnections(lis net.Listener, most int, secured bool) net.Listener {
	if most == 0 {
		return lis
	}
	return &limitedListener{Listener: lis, most: int64(most), secured: secured}
}

type limitedListener struct {
	net.Listener
	most    int64
	secured bool
	open    atomic.Int64
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &countedConn{Conn: conn, open: &l.open}, nil
		}
		l.open.Add(-1)
		l.turnAway(conn)
	}
}

// turnAway never blocks: the response fits into the socket's buffer.
func (l *limitedListener) turnAway(conn net.Conn) {
	if !l.secured {
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, _ = fmt.Fprintf(conn, turnedAway, int(retryAfter.Seconds()), len(turnedAwayBody), turnedAwayBody)
	}
	_ = conn.Close()
}

// countedConn is an open connection until it is closed.
type countedConn struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}
