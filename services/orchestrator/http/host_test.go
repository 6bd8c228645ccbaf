package http

import (
	"net"
	"strings"
	"testing"
)

// FuzzHost looks for names that come in though they may lead anywhere.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{"localhost", "127.0.0.1:9080", "[::1]:80", "[::1", "a.localhost.", ":80", "",
		"[[::1]]", "evil.example", "LOCALHOST:1:2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		host := hostOf(header)
		if !hostAllowed(host, nil) {
			return
		}
		if net.ParseIP(host) == nil && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
			t.Errorf("%q comes in as %q", header, host)
		}
		if !strings.Contains(strings.ToLower(header), host) {
			t.Errorf("%q is taken for %q, which it does not hold", header, host)
		}
	})
}
