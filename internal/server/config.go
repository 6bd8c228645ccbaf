package server

import (
	"errors"
	"fmt"
	"net"
	"time"

	"buf.build/go/protovalidate"
	"github.com/triplemesh/triplemesh/internal/auth"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// Config says where a server listens and what it takes on. Start from
// DefaultConfig: zero is no default but means none, except where said.
type Config struct {
	// Addr is where to listen, host:port.
	Addr string `koanf:"addr" help:"where to listen, host:port"`
	// Listener, if set, is used instead of Addr; Serve closes it.
	Listener net.Listener `koanf:"-"`
	// MetricsAddr serves /metrics over HTTP; empty serves none.
	MetricsAddr string `koanf:"metrics_addr" help:"where to serve /metrics over HTTP; empty for nowhere"`
	// HealthAddr serves the health service alone, in plain text, for probes
	// that can present no certificate; empty serves none there.
	HealthAddr string `koanf:"health_addr" help:"where to answer health checks in plain text too; empty for nowhere"`
	// MaxInFlight is the most RPCs at once. The server begins with a sixteenth of
	// it, or 16, and goes up while they do not slow each other down, and down while they
	// do or run out of time. 0 sets no bound. Health and reflection do not count.
	MaxInFlight int `koanf:"max_in_flight" help:"most RPCs at once; 0 for no bound"`
	// MaxQueue is the most RPCs that wait while so many are under way; more are
	// RESOURCE_EXHAUSTED. 0 lets none wait.
	MaxQueue int `koanf:"max_queue" help:"most RPCs that wait while max_in_flight are under way; more are refused"`
	// MaxWait is the longest that an RPC waits, and never more than half of the
	// time it has.
	MaxWait time.Duration `koanf:"max_wait" help:"longest that an RPC waits to be begun"`
	// MaxMessageBytes is the largest message either way. The client's setting
	// must be the same. 0 takes 64 MiB.
	MaxMessageBytes int `koanf:"max_message_bytes" help:"largest message either way, as the clients have it"`
	// Timeout is given to RPCs that come without a deadline; 0 gives none.
	Timeout time.Duration `koanf:"timeout" help:"deadline of RPCs that come without one; 0 for none"`
	// MinTimeLeft is the least time an RPC must have left to be begun.
	MinTimeLeft time.Duration `koanf:"min_time_left" help:"RPCs with less time left are refused"`
	// DrainDelay is the wait between NOT_SERVING and the end of accepting, in
	// which load balancers notice. 0 suits one machine; some seconds suit
	// Kubernetes.
	DrainDelay time.Duration `koanf:"drain_delay" help:"wait after NOT_SERVING before RPCs are refused"`
	// DrainTimeout bounds the wait for RPCs under way; then they are cut.
	DrainTimeout time.Duration `koanf:"drain_timeout" help:"longest wait for RPCs under way at the end"`
	// MaxConnectionAge ends connections so that clients find new servers; 0
	// keeps them.
	MaxConnectionAge time.Duration `koanf:"max_connection_age" help:"connections end after this, so that clients look for new servers"`
	// MaxConnectionAgeGrace is what RPCs get to end after MaxConnectionAge. It
	// must be longer than the longest load of a knowledge graph. A connection
	// without RPCs ends at once.
	MaxConnectionAgeGrace time.Duration `koanf:"max_connection_age_grace" help:"time for RPCs to end after max_connection_age; longer than any load"`
	// Auth says how callers prove who they are.
	Auth auth.Config `koanf:"auth"`
	// Audit says where it is written who did what.
	Audit AuditConfig `koanf:"audit"`
	// TLS says how connections are secured, and which stages may call.
	TLS TLSConfig `koanf:"tls"`
	// Credentials secure the connections in place of TLS; nil leaves that to it.
	Credentials credentials.TransportCredentials `koanf:"-"`
	// Validator checks messages by the rules in the contract; nil makes one. It
	// keeps what it read of the rules, so servers in one process may share it.
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

// Validate says which setting cannot be used.
func (c Config) Validate() error {
	var errs []error
	if c.Addr == "" && c.Listener == nil {
		errs = append(errs, errors.New("addr is empty: want host:port"))
	}
	for _, addr := range []struct{ key, value string }{{"addr", c.Addr}, {"metrics_addr", c.MetricsAddr}, {"health_addr", c.HealthAddr}} {
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

func (c Config) maxMessage() int {
	if c.MaxMessageBytes == 0 {
		return defaultMaxMessage
	}
	return c.MaxMessageBytes
}
