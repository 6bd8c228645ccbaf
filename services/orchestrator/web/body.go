package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// leastRate is how many bytes of a body must come in a second, once its time to
// begin is over.
const leastRate = 1 << 10

// boundBodies bounds how large bodies are and how slowly they come. A body that
// is larger is refused at once where its length is told, and else ends with an
// *http.MaxBytesError.
func boundBodies(cfg Config, doors doors) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Body == nil || r.Body == http.NoBody {
				next.ServeHTTP(w, r)
				return
			}
			limit, setting := cfg.MaxBodyBytes, "max_body_bytes"
			if doors.of(r).uploads(r) {
				limit, setting = cfg.MaxUploadBytes, "max_upload_bytes"
			}
			body := &body{
				ReadCloser: http.MaxBytesReader(w, r.Body, limit), answer: w.Header(), control: http.NewResponseController(w), until: time.Now().Add(cfg.ReadTimeout),
			}
			// It holds for doors too that read nothing of the body, of which the
			// server then reads the rest.
			_ = body.control.SetReadDeadline(body.until)
			if r.ContentLength > limit {
				w.Header().Set("Connection", "close")
				drop(body.control)
				problem.Write(w, r, problem.New(http.StatusRequestEntityTooLarge, codes.InvalidArgument,
					fmt.Sprintf("the body has %d bytes: at most %d are taken (orchestrator.http.%s)", r.ContentLength, limit, setting)))
				return
			}
			r.Body = body
			next.ServeHTTP(w, r)
		})
	}
}

// body is read as fast as it must come.
type body struct {
	io.ReadCloser
	answer  http.Header
	control *http.ResponseController
	until   time.Time
	set     time.Time
	read    int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	// A deadline that is set for each read would cost more than the reads.
	if until := b.until.Add(time.Duration(b.read) * time.Second / leastRate); until.Sub(b.set) > time.Second {
		b.set = until
		_ = b.control.SetReadDeadline(until)
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		// What comes after it is the next request, or the caller's going away.
		_ = b.control.SetReadDeadline(time.Time{})
	case err != nil:
		b.answer.Set("Connection", "close")
		drop(b.control)
	}
	return n, err
}

// drop has the server not wait for the rest of a body.
func drop(control *http.ResponseController) { _ = control.SetReadDeadline(time.Now()) }

// boundWrites cuts clients off that take nothing of their answer.
func boundWrites(timeout time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&prompt{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}, r)
		})
	}
}

// prompt wants its writes taken within a time each.
type prompt struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

// Write implements http.ResponseWriter.
func (p *prompt) Write(data []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.timeout))
	return p.ResponseWriter.Write(data)
}

// Flush implements http.Flusher.
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
