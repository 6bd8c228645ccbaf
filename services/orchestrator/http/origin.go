package http

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

// The methods and headers that pages of allowed origins may use.
const (
	corsMethods = "GET, POST, DELETE"
	corsRequest = "Authorization, Content-Type, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id, X-Request-Id"
	corsAnswer  = "Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id"
	corsMaxAge  = "600"
)

// checkOrigins refuses browser requests from pages of other origins, except the allowed ones.
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
					"pages of other origins may not call this server; name theirs in "+
						"orchestrator.http.allowed_origins to let them"))
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

// checkHost refuses requests for host names that are not the server's. An attacker's page may resolve
// its own name to the server's address (DNS rebinding), and the browser then treats both as one
// origin. IP addresses and localhost cannot be rebound.
func checkHost(allowed []string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if host := hostOf(r.Host); !hostAllowed(host, allowed) {
				problem.Write(w, r, problem.New(http.StatusMisdirectedRequest, codes.PermissionDenied,
					fmt.Sprintf("this server is not called %.100q; call it by its address or as localhost, or name "+
						"it in orchestrator.http.allowed_hosts", host)))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// hostOf returns the host of a Host header, without port and final dot.
func hostOf(header string) string {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

func hostAllowed(host string, allowed []string) bool {
	if net.ParseIP(host) != nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	for _, a := range allowed {
		a = strings.ToLower(a)
		if below, ok := strings.CutPrefix(a, "*"); a == host || ok && strings.HasSuffix(host, below) {
			return true
		}
	}
	return false
}

// headers are set on every response. Handlers that serve pages override the policy; all other
// responses must not be rendered as pages.
var headers = map[string]string{
	"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "SAMEORIGIN",
}

func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}
