package http_test

import (
	"net"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
)

func TestConfig(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*web.Config)
		says string // empty if it can be
	}{
		{"the defaults can be", func(*web.Config) {}, ""},
		{"no address is no HTTP", func(c *web.Config) { c.Addr = "" }, ""},
		{"an address has a port", func(c *web.Config) { c.Addr = "localhost" }, "addr"},
		{"names of hosts can be", func(c *web.Config) {
			c.AllowedHosts = []string{"mesh.example.org",
				"*.example.org", "*"}
		}, ""},
		{"a host has no port", func(c *web.Config) { c.AllowedHosts = []string{"mesh.example.org:9080"} },
			"allowed_hosts"},
		{"a host is not empty", func(c *web.Config) { c.AllowedHosts = []string{""} }, "allowed_hosts"},
		{"an origin has a scheme", func(c *web.Config) { c.AllowedOrigins = []string{"app.example.org"} },
			"allowed_origins"},
		{"an origin has no path", func(c *web.Config) { c.AllowedOrigins = []string{"https://app.example.org/"} },
			"allowed_origins"},
		{"an origin can be", func(c *web.Config) { c.AllowedOrigins = []string{"https://app.example.org:8443"} }, ""},
		{"a trace is at an address", func(c *web.Config) { c.TraceURL = "javascript:alert(1)//{trace_id}" },
			"trace_url"},
		{"a body has a bound", func(c *web.Config) { c.MaxBodyBytes = 0 }, "max_body_bytes"},
		{"a slow client has one too", func(c *web.Config) { c.ReadTimeout = 0 }, "read_timeout"},
		{"streams need none", func(c *web.Config) { c.MaxStreams, c.MaxConnections = 0, 0 }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := web.DefaultConfig()
			test.set(&cfg)
			if err := cfg.Validate(); (err == nil) != (test.says == "") || err != nil &&
				!strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
			_, err := web.New(cfg, nil, telemetry.Discard())
			if (err == nil) != (test.says == "") {
				t.Errorf("a server is made of it with %v", err)
			}
		})
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := web.DefaultConfig()
	cfg.Addr = taken.Addr().String()
	s, err := web.New(cfg, nil, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err == nil || !strings.Contains(err.Error(), "orchestrator.http.addr") {
		t.Errorf("got %v, want the setting that mends it", err)
	}
}
