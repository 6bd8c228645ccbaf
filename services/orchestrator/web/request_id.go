package web

import (
	"net/http"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// requestIDHeader is in which callers give and get the id of a request.
const requestIDHeader = "X-Request-Id"

// requestID takes over the caller's request id or makes one, and sends it back.
func requestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := telemetry.NewRequestID(r.Header.Get(requestIDHeader))
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(telemetry.WithRequestID(r.Context(), id)))
	})
}
