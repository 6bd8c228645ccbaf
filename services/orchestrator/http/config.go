package http

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// Config is the configuration of the HTTP server. Start from DefaultConfig.
type Config struct {
	// Addr is the address to listen on, host:port; empty disables HTTP.
	Addr string `koanf:"addr" help:"address to serve HTTP on, host:port; empty disables HTTP"`
	// Listener, if set, is used instead of Addr; the server closes it.
	Listener net.Listener `koanf:"-"`
	// AllowedHosts are the host names of the server, beside IP addresses and localhost:
	// "mesh.example.org"; "*.example.org" is all names below example.org, and "*" is any. Requests for
	// other names are refused (DNS rebinding).
	AllowedHosts []string `koanf:"allowed_hosts" help:"host names of the server, beside addresses and localhost"`
	// AllowedOrigins are the origins, beside the server's own, whose pages may call it from browsers:
	// "https://app.example.org".
	AllowedOrigins []string `koanf:"allowed_origins" help:"origins whose pages may call the server"`
	// MaxBodyBytes is the maximum size of a request body.
	MaxBodyBytes int64 `koanf:"max_body_bytes" help:"maximum size of a request body"`
	// MaxUploadBytes is the maximum size of an uploaded file.
	MaxUploadBytes int64 `koanf:"max_upload_bytes" help:"maximum size of an uploaded file"`
	// MaxConnections is the maximum number of open connections; further ones get status 503. 0 is no
	// limit.
	MaxConnections int `koanf:"max_connections" help:"maximum open connections; 0 is no limit"`
	// MaxStreams is the maximum number of requests in flight, event streams included; further ones get
	// status 503. 0 is no limit.
	MaxStreams int `koanf:"max_streams" help:"maximum requests in flight; 0 is no limit"`
	// HeaderTimeout bounds the time to read a request's headers.
	HeaderTimeout time.Duration `koanf:"header_timeout" help:"time to read request headers"`
	// ReadTimeout bounds the time until a body begins; from then on the client must send at least
	// 1 KiB/s.
	ReadTimeout time.Duration `koanf:"read_timeout" help:"time until a body begins; then 1 KiB/s"`
	// WriteTimeout bounds each write to a client that does not read.
	WriteTimeout time.Duration `koanf:"write_timeout" help:"time for one write to a slow client"`
	// IdleTimeout is how long an idle connection stays open.
	IdleTimeout time.Duration `koanf:"idle_timeout" help:"time until an idle connection is closed"`
	// Heartbeat is the interval of comments on an event stream without events.
	Heartbeat time.Duration `koanf:"heartbeat" help:"interval of comments on a quiet event stream"`
	// Reports is the directory of evaluation reports; empty serves none.
	Reports string `koanf:"reports" help:"directory of evaluation reports; empty for none"`
	// TraceURL is the page of a trace, with "{trace_id}" for its id; empty if there is none.
	TraceURL string `koanf:"trace_url" help:"URL of a trace, with {trace_id} for its id"`
}

// DefaultConfig listens on the loopback interface only.
func DefaultConfig() Config {
	return Config{
		Addr:           "127.0.0.1:9080",
		MaxBodyBytes:   1 << 20,
		MaxUploadBytes: 4 << 30,
		MaxConnections: 10_000,
		MaxStreams:     1000,
		HeaderTimeout:  5 * time.Second,
		ReadTimeout:    20 * time.Second,
		WriteTimeout:   30 * time.Second,
		IdleTimeout:    time.Minute,
		Heartbeat:      15 * time.Second,
	}
}

// Enabled reports whether HTTP is served.
func (c Config) Enabled() bool { return c.Addr != "" || c.Listener != nil }

// Validate returns an error for each invalid setting.
func (c Config) Validate() error {
	var errs []error
	if c.Addr != "" {
		if _, _, err := net.SplitHostPort(c.Addr); err != nil {
			errs = append(errs, fmt.Errorf("addr %q: want host:port, or nothing for no HTTP", c.Addr))
		}
	}
	for _, host := range c.AllowedHosts {
		if name := strings.TrimPrefix(host, "*."); host != "*" && (name == "" || strings.ContainsAny(name, "*/:@ ")) {
			errs = append(errs, fmt.Errorf(
				"allowed_hosts: %q: want a name such as mesh.example.org, *.example.org or *", host))
		}
	}
	for _, origin := range c.AllowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin {
			errs = append(errs, fmt.Errorf("allowed_origins: %q: want a scheme and a host such as "+
				"https://app.example.org", origin))
		}
	}
	if c.TraceURL != "" && !strings.HasPrefix(c.TraceURL, "http://") && !strings.HasPrefix(c.TraceURL, "https://") {
		errs = append(errs, fmt.Errorf("trace_url %q: want an address such as "+
			"https://traces.example.org/trace/{trace_id}", c.TraceURL))
	}
	for _, n := range []struct {
		key          string
		value, least int64
	}{
		{"max_body_bytes", c.MaxBodyBytes, 1}, {"max_upload_bytes", c.MaxUploadBytes, 1},
		{"max_connections", int64(c.MaxConnections), 0}, {"max_streams", int64(c.MaxStreams), 0},
		{"header_timeout", int64(c.HeaderTimeout), 1}, {"read_timeout", int64(c.ReadTimeout), 1},
		{"write_timeout", int64(c.WriteTimeout), 1}, {"idle_timeout", int64(c.IdleTimeout), 1},
		{"heartbeat", int64(c.Heartbeat), 1},
	} {
		if n.value < n.least {
			errs = append(errs, fmt.Errorf("%s: want %d or more", n.key, n.least))
		}
	}
	return errors.Join(errs...)
}
