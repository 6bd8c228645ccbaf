package web

import (
	"fmt"
	"net/http"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// What pages of allowed origins may send and read.
const (
	corsMethods = "GET, POST, DELETE"
	corsRequest = "Authorization, Content-Type, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id, X-Request-Id"
	corsAnswer  = "Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id"
	corsMaxAge  = "600"
)

// checkOrigins keeps the pages of other origins from calling this server by a
// visitor's browser, but for the allowed ones.
func checkOrigins(allowed []string) (func(http.Handler) http.Handler, error) {
	protection := http.NewCrossOriginProtection()
	for _, origin := range allowed {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("allowed_origins: %w", err)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := protection.Check(r); err != nil {
				problem.Write(w, r, problem.New(http.StatusForbidden, codes.PermissionDenied,
					"pages of other origins may not call this server; name theirs in orchestrator.http.allowed_origins to let them"))
				return
			}
			if origin := r.Header.Get("Origin"); slices.Contains(allowed, origin) {
				h := w.Header()
				h.Add("Vary", "Origin")
				h.Set("Access-Control-Allow-Origin", origin)
				h.Set("Access-Control-Expose-Headers", corsAnswer)
				h.Set("Cross-Origin-Resource-Policy", "cross-origin")
				if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
					h.Set("Access-Control-Allow-Methods", corsMethods)
					h.Set("Access-Control-Allow-Headers", corsRequest)
					h.Set("Access-Control-Max-Age", corsMaxAge)
					w.WriteHeader(http.StatusNoContent)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}, nil
}
