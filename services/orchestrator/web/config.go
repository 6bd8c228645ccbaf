package web

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// Config says where HTTP is served and what is taken on. Start from
// DefaultConfig.
type Config struct {
	// Addr is where to listen, host:port; empty serves no HTTP.
	Addr string `koanf:"addr" help:"where to serve HTTP, host:port; empty for nowhere"`
	// Listener, if set, is used instead of Addr; the server closes it.
	Listener net.Listener `koanf:"-"`
	// AllowedHosts are the names by which the server may be called, beside IP
	// addresses and localhost: "mesh.example.org"; "*.example.org" is all names
	// below example.org, and "*" is any. A page of another name that resolves to
	// this server's address is not let near it.
	AllowedHosts []string `koanf:"allowed_hosts" help:"names by which it may be called, beside addresses and localhost"`
	// AllowedOrigins are the origins whose pages may call the server from
	// browsers, "https://app.example.org", beside its own.
	AllowedOrigins []string `koanf:"allowed_origins" help:"origins whose pages may call it from browsers"`
	// MaxBodyBytes is the largest body of a request.
	MaxBodyBytes int64 `koanf:"max_body_bytes" help:"largest body of a request"`
	// MaxUploadBytes is the largest file of facts.
	MaxUploadBytes int64 `koanf:"max_upload_bytes" help:"largest file that is uploaded"`
	// MaxConnections is the most connections at once; more are told to come
	// later and closed. 0 sets no bound.
	MaxConnections int `koanf:"max_connections" help:"most connections at once; 0 for no bound"`
	// MaxStreams is the most requests at once, those that answer with a stream
	// of events among them; more are told to come later. 0 sets no bound.
	MaxStreams int `koanf:"max_streams" help:"most requests and streams of events at once; 0 for no bound"`
	// HeaderTimeout bounds the time in which a request's header must have come.
	HeaderTimeout time.Duration `koanf:"header_timeout" help:"time for a request's header to come"`
	// ReadTimeout bounds the time in which a body must have begun to come; from
	// then on it must keep to 1 KiB a second.
	ReadTimeout time.Duration `koanf:"read_timeout" help:"time for a body to come, and a second more for each KiB"`
	// WriteTimeout bounds the time in which a client may take nothing of an
	// answer.
	WriteTimeout time.Duration `koanf:"write_timeout" help:"time in which a client may take nothing of its answer"`
	// IdleTimeout is how long a connection is kept between requests.
	IdleTimeout time.Duration `koanf:"idle_timeout" help:"time that a connection is kept between requests"`
	// Heartbeat is how often a stream of events that has nothing to tell says
	// that it is there.
	Heartbeat time.Duration `koanf:"heartbeat" help:"how often a stream with no news says that it is there"`
	// Reports is a directory of evaluation reports to show; empty shows none.
	Reports string `koanf:"reports" help:"directory of evaluation reports to show; empty for none"`
	// TraceURL is where a trace can be looked at, with "{trace_id}" in the place
	// of its id; empty where there is no such place.
	TraceURL string `koanf:"trace_url" help:"where a trace can be looked at, with {trace_id} for its id"`
}

// DefaultConfig listens on the loopback interface alone.
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

// On says that HTTP is served.
func (c Config) On() bool { return c.Addr != "" || c.Listener != nil }

// Validate says which setting cannot be used.
func (c Config) Validate() error {
	var errs []error
	if c.Addr != "" {
		if _, _, err := net.SplitHostPort(c.Addr); err != nil {
			errs = append(errs, fmt.Errorf("addr %q: want host:port, or nothing for no HTTP", c.Addr))
		}
	}
	for _, host := range c.AllowedHosts {
		if name := strings.TrimPrefix(host, "*."); host != "*" && (name == "" || strings.ContainsAny(name, "*/:@ ")) {
			errs = append(errs, fmt.Errorf("allowed_hosts: %q: want a name such as mesh.example.org, *.example.org or *", host))
		}
	}
	for _, origin := range c.AllowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin {
			errs = append(errs, fmt.Errorf("allowed_origins: %q: want a scheme and a host such as https://app.example.org", origin))
		}
	}
	if c.TraceURL != "" && !strings.HasPrefix(c.TraceURL, "http://") && !strings.HasPrefix(c.TraceURL, "https://") {
		errs = append(errs, fmt.Errorf("trace_url %q: want an address such as https://traces.example.org/trace/{trace_id}", c.TraceURL))
	}
	for _, n := range []struct {
		key          string
		value, least int64
	}{
		{"max_body_bytes", c.MaxBodyBytes, 1}, {"max_upload_bytes", c.MaxUploadBytes, 1},
		{"max_connections", int64(c.MaxConnections), 0}, {"max_streams", int64(c.MaxStreams), 0},
		{"header_timeout", int64(c.HeaderTimeout), 1}, {"read_timeout", int64(c.ReadTimeout), 1},
		{"write_timeout", int64(c.WriteTimeout), 1}, {"idle_timeout", int64(c.IdleTimeout), 1}, {"heartbeat", int64(c.Heartbeat), 1},
	} {
		if n.value < n.least {
			errs = append(errs, fmt.Errorf("%s: want %d or more", n.key, n.least))
		}
	}
	return errors.Join(errs...)
}
