package web

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// checkHost turns requests away that come by a name which is not this server's.
// A page may have a name of its own resolve to this server's address (DNS
// rebinding), and the browser then takes the server for the page's own. An
// address has no such name, and localhost resolves to this machine alone.
func checkHost(allowed []string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if host := hostOf(r.Host); !hostAllowed(host, allowed) {
				problem.Write(w, r, problem.New(http.StatusMisdirectedRequest, codes.PermissionDenied,
					fmt.Sprintf("this server is not called %.100q; call it by its address or as localhost, or name it in orchestrator.http.allowed_hosts", host)))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// hostOf is the host of a Host header, without its port and final dot.
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
