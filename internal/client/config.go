package client

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/mtls"
)

// Config is the address of a service and how to call it. Start from DefaultConfig.
type Config struct {
	// Addr is host:port, which DNS may resolve to several replicas, a comma-separated list of them, or
	// a gRPC target with its scheme, such as unix:///run/verifier.sock or, in a pod,
	// kubernetes:///verifier.namespace:9093, which watches the Service.
	Addr string `koanf:"addr" help:"host:port, or a gRPC target with its scheme"`
	// MaxMessageBytes is the largest message sent or received. It must equal the server's setting.
	// 0 means 64 MiB.
	MaxMessageBytes int `koanf:"max_message_bytes" help:"largest message in bytes; must equal the servers' setting"`
	// MaxAttempts includes the first one and is at most 5; 0 and 1 disable retries.
	MaxAttempts int `koanf:"max_attempts" help:"attempts of a call whose server went away, 1 to 5"`
	// Patience is how long a call waits for a sign of life from its replica before it moves to another,
	// and the interval of health checks while a replica works. It should exceed the duration of nearly
	// all reads. 0 waits until the deadline.
	Patience time.Duration `koanf:"patience" help:"wait for a sign of life from a replica before the call moves on"`
	// Reserve is subtracted from the deadline of a call, so that the caller can still answer after the
	// call has timed out.
	Reserve time.Duration `koanf:"reserve" help:"least time subtracted from a call's deadline"`
	// ReserveShare is the same as a share of the time left, 0 to 1; the larger of the two counts.
	ReserveShare float64 `koanf:"reserve_share" help:"share of the time left that is subtracted from a call's deadline"`
	// Throttle refuses calls without sending them while the server refuses many. It is for clients of a
	// single tenant, as it does not distinguish tenants.
	Throttle bool `koanf:"-"`
	// TLS is the client's certificate and its trusted authorities. If empty, the files of WithTLS are
	// used; if those are empty too, the connection is plain.
	TLS mtls.Files `koanf:"tls"`
	// Stage is the stage whose certificate the server must present.
	Stage string `koanf:"-"`
	// TokenFile holds the token to send with every call in its first line. It is reloaded when it
	// changes.
	TokenFile string `koanf:"token_file" help:"file whose first line is the token to send"`
	// Token is the token itself.
	Token string `koanf:"-"`
	// InsecureToken allows sending the token over plain connections to other machines.
	InsecureToken bool `koanf:"insecure_token" help:"send the token over plain connections to other machines too"`
	// sharesFiles is set if TLS has the files of this process's server, which logs their expiry.
	sharesFiles bool
	// Credentials override TLS if not nil.
	Credentials credentials.TransportCredentials `koanf:"-"`
	// Options follow the client's own, such as an in-memory dialer.
	Options []grpc.DialOption `koanf:"-"`
}

const defaultMaxMessage = 64 << 20

// DefaultConfig returns the defaults for a service at addr.
func DefaultConfig(addr string) Config {
	return Config{
		Addr:            addr,
		MaxMessageBytes: defaultMaxMessage,
		MaxAttempts:     3,
		Patience:        2 * time.Second,
		Reserve:         20 * time.Millisecond,
		ReserveShare:    0.02,
	}
}

// Option completes the Config of a connection.
type Option func(*Config)

// WithTLS requires the certificate of a stage, and authenticates with the files of this process's
// server unless Config.TLS is set.
func WithTLS(stage string, server mtls.Files) Option {
	return func(c *Config) {
		c.Stage = stage
		if !c.TLS.Enabled() {
			c.TLS, c.sharesFiles = server, true
		}
	}
}

// WithMeshToken sends the shared secret of the stages, from the configuration of this process's
// server, unless Config has a token.
func WithMeshToken(server auth.Config) Option {
	return func(c *Config) {
		if c.Token == "" && c.TokenFile == "" {
			c.Token, c.TokenFile = server.MeshToken, server.MeshTokenFile
			c.InsecureToken = c.InsecureToken || server.InsecureMeshToken
		}
	}
}

// Validate returns an error that names every invalid setting.
func (c Config) Validate() error {
	var errs []error
	if c.Addr == "" {
		errs = append(errs, errors.New("addr is empty: want host:port"))
	}
	if c.MaxMessageBytes < 0 {
		errs = append(errs, fmt.Errorf("max_message_bytes %d: want 0 or more", c.MaxMessageBytes))
	}
	if c.MaxAttempts < 0 || c.MaxAttempts > 5 {
		errs = append(errs, fmt.Errorf("max_attempts %d: want 0 to 5", c.MaxAttempts))
	}
	if c.Patience < 0 {
		errs = append(errs, fmt.Errorf("patience %s: want 0 or more", c.Patience))
	}
	if c.Reserve < 0 {
		errs = append(errs, fmt.Errorf("reserve %s: want 0 or more", c.Reserve))
	}
	if !(c.ReserveShare >= 0 && c.ReserveShare < 1) {
		errs = append(errs, fmt.Errorf("reserve_share %g: want 0 or more and less than 1", c.ReserveShare))
	}
	return errors.Join(errs...)
}

func (c Config) maxMessage() int { return cmp.Or(c.MaxMessageBytes, defaultMaxMessage) }
