package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"time"

	"buf.build/go/protovalidate"
	"github.com/triplemesh/triplemesh/internal/auth"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// Config configures a server. Start from DefaultConfig: a zero value disables the feature unless
// documented otherwise.
type Config struct {
	// Addr is where to listen, host:port.
	Addr string `koanf:"addr" help:"where to listen, host:port"`
	// Listener, if set, is used instead of Addr; Serve closes it.
	Listener net.Listener `koanf:"-"`
	// Ready, if not nil, is closed once the server as a whole reports SERVING; it serves before, too.
	Ready <-chan struct{} `koanf:"-"`
	// MetricsAddr serves /metrics and /readyz over HTTP; empty serves none.
	MetricsAddr string `koanf:"metrics_addr" help:"where to serve /metrics and /readyz over HTTP; empty for nowhere"`
	// HealthAddr serves the health service alone, in plain text, for probes
	// that can present no certificate; empty serves none there.
	HealthAddr string `koanf:"health_addr" help:"where to answer health checks in plain text too; empty for nowhere"`
	// MaxInFlight bounds the concurrency limit. The limit starts at a sixteenth of it, or 16; it
	// grows while RPCs do not slow each other down, and is cut when they do or miss their
	// deadlines. 0 disables it. Health and reflection do not count.
	MaxInFlight int `koanf:"max_in_flight" help:"most RPCs at once; 0 for no bound"`
	// MaxQueue is the capacity of the queue; further RPCs are RESOURCE_EXHAUSTED. 0 disables
	// queueing.
	MaxQueue int `koanf:"max_queue" help:"most RPCs that wait while max_in_flight are under way; more are refused"`
	// MaxWait bounds the wait of an RPC, as does half of its time.
	MaxWait time.Duration `koanf:"max_wait" help:"longest that an RPC waits to be begun"`
	// MaxMessageBytes is the largest message either way. The client's setting
	// must be the same. 0 takes 64 MiB.
	MaxMessageBytes int `koanf:"max_message_bytes" help:"largest message either way, as the clients have it"`
	// Timeout is given to RPCs that come without a deadline; 0 gives none.
	Timeout time.Duration `koanf:"timeout" help:"deadline of RPCs that come without one; 0 for none"`
	// MinTimeLeft is the least time an RPC must have left to be begun.
	MinTimeLeft time.Duration `koanf:"min_time_left" help:"RPCs with less time left are refused"`
	// DrainDelay is the wait between NOT_SERVING and the end of accepting, for load balancers to
	// notice. 0 suits a single machine; Kubernetes needs some seconds.
	DrainDelay time.Duration `koanf:"drain_delay" help:"wait after NOT_SERVING before RPCs are refused"`
	// DrainTimeout bounds the wait for RPCs in flight before they are cancelled.
	DrainTimeout time.Duration `koanf:"drain_timeout" help:"longest wait for RPCs under way at the end"`
	// MaxConnectionAge ends connections so that clients find new servers; 0 keeps them.
	MaxConnectionAge time.Duration `koanf:"max_connection_age" help:"age after which connections are closed"`
	// MaxConnectionAgeGrace is the time that RPCs get to end after MaxConnectionAge. It must exceed
	// the longest load of a knowledge graph. A connection without RPCs is closed at once.
	MaxConnectionAgeGrace time.Duration `koanf:"max_connection_age_grace" help:"drain time after max_connection_age"`
	// Auth configures authentication.
	Auth auth.Config `koanf:"auth"`
	// Audit configures the audit log.
	Audit AuditConfig `koanf:"audit"`
	// TLS configures TLS and the stages that may call.
	TLS TLSConfig `koanf:"tls"`
	// Credentials, if not nil, replace TLS.
	Credentials credentials.TransportCredentials `koanf:"-"`
	// Validator validates messages by the rules of their proto; nil makes one. It caches compiled
	// rules, so servers in one process should share it.
	Validator protovalidate.Validator `koanf:"-"`
	// Options are added after the server's own.
	Options []grpc.ServerOption `koanf:"-"`
}

const defaultMaxMessage = 64 << 20

// DefaultConfig listens at addr.
func DefaultConfig(addr string) Config {
	return Config{
		Addr:                  addr,
		MaxInFlight:           256,
		MaxQueue:              256,
		MaxWait:               10 * time.Second,
		MaxMessageBytes:       defaultMaxMessage,
		Timeout:               5 * time.Minute,
		MinTimeLeft:           5 * time.Millisecond,
		DrainTimeout:          30 * time.Second,
		MaxConnectionAge:      2 * time.Minute,
		MaxConnectionAgeGrace: 24 * time.Hour,
		Auth:                  auth.DefaultConfig(),
	}
}

// Validate reports invalid settings.
func (c Config) Validate() error {
	var errs []error
	if c.Addr == "" && c.Listener == nil {
		errs = append(errs, errors.New("addr is empty: want host:port"))
	}
	for _, addr := range []struct{ key, value string }{{"addr", c.Addr}, {"metrics_addr", c.MetricsAddr},
		{"health_addr", c.HealthAddr}} {
		if addr.value == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(addr.value); err != nil {
			errs = append(errs, fmt.Errorf("%s %q: want host:port", addr.key, addr.value))
		}
	}
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"max_in_flight", int64(c.MaxInFlight)}, {"max_queue", int64(c.MaxQueue)},
		{"max_wait", int64(c.MaxWait)}, {"max_message_bytes", int64(c.MaxMessageBytes)},
		{"timeout", int64(c.Timeout)}, {"min_time_left", int64(c.MinTimeLeft)},
		{"drain_delay", int64(c.DrainDelay)}, {"drain_timeout", int64(c.DrainTimeout)},
		{"max_connection_age", int64(c.MaxConnectionAge)}, {"max_connection_age_grace", int64(c.MaxConnectionAgeGrace)},
	} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s is negative: want 0 or more", n.key))
		}
	}
	return errors.Join(errs...)
}

func (c Config) maxMessage() int { return cmp.Or(c.MaxMessageBytes, defaultMaxMessage) }
