package web

import (
	"log/slog"
	"net/http"
	"time"
)

// maxLoggedPath is how much of a path a line has.
const maxLoggedPath = 256

// logRequests writes a line for every request that is not for a file: neither
// what it asks, which may be in its query, nor who asks, which is in the lines
// of its RPCs.
func logRequests(doors doors, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start, seen := time.Now(), &seen{ResponseWriter: w}
			defer func() {
				log.LogAttrs(r.Context(), levelOf(doors.of(r), seen.status), "http",
					slog.String("method", r.Method),
					slog.String("path", r.URL.Path[:min(len(r.URL.Path), maxLoggedPath)]),
					slog.Int("status", seen.status),
					slog.Int64("bytes", seen.bytes),
					slog.Duration("duration", time.Since(start)),
					slog.String("peer", r.RemoteAddr))
			}()
			next.ServeHTTP(seen, r)
		})
	}
}

func levelOf(door Door, status int) slog.Level {
	switch {
	case status >= 500 && status != http.StatusServiceUnavailable && status != http.StatusGatewayTimeout && status != http.StatusNotImplemented:
		return slog.LevelError
	case status >= 500, status == http.StatusTooManyRequests:
		return slog.LevelWarn
	case status == http.StatusUnauthorized, door.Files:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// seen notes what is answered.
type seen struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (s *seen) WriteHeader(status int) {
	if s.status == 0 && status >= 200 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (s *seen) Write(data []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	n, err := s.ResponseWriter.Write(data)
	s.bytes += int64(n)
	return n, err
}

// Flush implements http.Flusher.
func (s *seen) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (s *seen) Unwrap() http.ResponseWriter { return s.ResponseWriter }
