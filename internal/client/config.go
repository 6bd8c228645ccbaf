package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/triplemesh/triplemesh/internal/mtls"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// Config says which service to call and how. Start from DefaultConfig.
type Config struct {
	// Addr is host:port, of which DNS may know several machines, several of these
	// with commas between them, or a gRPC target with its scheme, such as unix:///run/verifier.sock or, in a pod,
	// kubernetes:///verifier.namespace:9093, which watches the Service.
	Addr string `koanf:"addr" help:"host:port, or a gRPC target with its scheme"`
	// MaxMessageBytes is the largest message either way. The server's setting
	// must be the same. 0 takes 64 MiB.
	MaxMessageBytes int `koanf:"max_message_bytes" help:"largest message either way, as the servers have it"`
	// MaxAttempts counts the first one and at most 4 more; 0 and 1 never try
	// again.
	MaxAttempts int `koanf:"max_attempts" help:"tries of a call whose server went away, 1 to 5"`
	// Patience is how long a call waits for a sign from its replica before it is
	// made at another, and how often one that is at work is asked how it is. It
	// should be longer than nearly all reads take. 0 waits as long as there is
	// time.
	Patience time.Duration `koanf:"patience" help:"longest wait for a sign of a replica, where there is another"`
	// Reserve is what a call leaves of the caller's time, so that the caller
	// can still answer when the call runs out of its own.
	Reserve time.Duration `koanf:"reserve" help:"least time kept back from a call's deadline"`
	// ReserveShare is the same as a share of the time left, 0 to 1; the larger
	// of the two counts.
	ReserveShare float64 `koanf:"reserve_share" help:"share of the time left kept back from a call's deadline"`
	// Throttle turns calls away here, unsent, while most of many are refused
	// there. It is for clients that call for nobody but themselves: it knows of
	// no tenants.
	Throttle bool `koanf:"-"`
	// TLS is who calls, and whom it believes. Empty is as the service's own
	// server has it; where that is plain, so is the connection.
	TLS mtls.Files `koanf:"tls"`
	// Stage is which stage must answer, by its certificate.
	Stage string `koanf:"-"`
	// TokenFile holds the token to send with every call, in its first line. It
	// is read again when it changes.
	TokenFile string `koanf:"token_file" help:"file whose first line is the token to send"`
	// Token is that token itself.
	Token string `koanf:"-"`
	// InsecureToken lets the token be sent over plain connections beyond this
	// machine.
	InsecureToken bool `koanf:"insecure_token" help:"send the token over plain connections to other machines too"`
	// shared says that the service's own server has the same files.
	shared bool
	// Credentials secure the connections in place of TLS; nil leaves that to it.
	Credentials credentials.TransportCredentials `koanf:"-"`
	// Options are added after the client's own, such as a dialer into memory.
	Options []grpc.DialOption `koanf:"-"`
}

const defaultMaxMessage = 64 << 20

// DefaultConfig calls the service at addr.
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

// To is the configuration for calls to a stage by a service that has files of
// its own: it calls as who it serves as, unless it is told otherwise.
func (c Config) To(stage string, own mtls.Files) Config {
	c.Stage = stage
	if !c.TLS.Enabled() {
		c.TLS, c.shared = own, true
	}
	return c
}

// Validate says which setting cannot be used.
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

func (c Config) maxMessage() int {
	if c.MaxMessageBytes == 0 {
		return defaultMaxMessage
	}
	return c.MaxMessageBytes
}
