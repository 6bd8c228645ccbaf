package http

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

// maxLoggedPath is the maximum length of a logged path.
const maxLoggedPath = 256

// logRequests logs every request that is not for a file: without its query, which may hold a
// question, and without the caller, whom the log lines of its RPCs name.
func logRequests(doors routes, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start, seen := time.Now(), &responseRecorder{ResponseWriter: w}
			defer func() {
				log.LogAttrs(r.Context(), levelOf(doors.find(r), seen.status), logRequest,
					slog.String("method", r.Method),
					slog.String("path", r.URL.Path[:min(len(r.URL.Path), maxLoggedPath)]),
					slog.Int("status", seen.status), slog.Int64("bytes", seen.bytes),
					slog.Duration("duration", time.Since(start)), slog.String("peer", r.RemoteAddr))
			}()
			next.ServeHTTP(seen, r)
		})
	}
}

func levelOf(door Route, status int) slog.Level {
	switch {
	case status >= 500 && status != http.StatusServiceUnavailable && status != http.StatusGatewayTimeout &&
		status != http.StatusNotImplemented:
		return slog.LevelError
	case status >= 500, status == http.StatusTooManyRequests:
		return slog.LevelWarn
	case status == http.StatusUnauthorized, door.Files:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// responseRecorder notes what is answered.
type responseRecorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (s *responseRecorder) WriteHeader(status int) {
	if s.status == 0 && status >= 200 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (s *responseRecorder) Write(data []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	n, err := s.ResponseWriter.Write(data)
	s.bytes += int64(n)
	return n, err
}

// Flush implements http.Flusher.
func (s *responseRecorder) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (s *responseRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// requestIDHeader carries the id of a request, both ways.
const requestIDHeader = "X-Request-Id"

// requestID keeps the caller's request id or creates one, and returns it.
func requestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := telemetry.NewRequestID(r.Header.Get(requestIDHeader))
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(telemetry.WithRequestID(r.Context(), id)))
	})
}

// recoverPanics answers with status 500 for a handler that panicked, or aborts a response that has
// begun.
func recoverPanics(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := &responseRecorder{ResponseWriter: w}
			defer func() {
				value := recover()
				if value == nil {
					return
				}
				if value == http.ErrAbortHandler {
					panic(value) // an intended abort
				}
				log.ErrorContext(r.Context(), logHandlerPanicked, "panic", fmt.Sprint(value), "stack",
					string(debug.Stack()))
				if answer.status != 0 {
					panic(http.ErrAbortHandler)
				}
				problem.Write(w, r, problem.New(http.StatusInternalServerError, codes.Internal,
					"internal error; the orchestrator's log has the details under the request id"))
			}()
			next.ServeHTTP(answer, r)
		})
	}
}

// carryCaller forwards the caller's token and address to the RPCs of the request. No other header
// becomes metadata: only the token identifies the caller.
func carryCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := server.WithPeerAddr(r.Context(), r.RemoteAddr)
		for _, value := range r.Header.Values("Authorization") {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", sendable(value))
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// sendable returns a header's value if it is valid in metadata. A value that is not cannot be a valid
// token either, and is refused as one.
func sendable(value string) string {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "unprintable"
	}
	return value
}
