// Package client makes the connections between services: spread over all
// machines of a service, with health checks, one layer of retries, and
// deadlines that leave the caller time to answer.
package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/client/kubernetes"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // client-side health checking
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"
)

// ping is the time between keepalive pings: twice the shortest that
// internal/server allows.
const ping = 20 * time.Second

// connecting is how a machine that is not there is tried again. gRPC's own
// pauses grow to two minutes, and a stage that was away for that long would stay
// away for as long again; the others are so few that asking more often harms
// nobody.
var connecting = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// Dial makes a connection to a service. Nothing is sent before the first call,
// so the service need not be there yet. The error names the setting that is
// wrong. The caller closes the connection.
func Dial(cfg Config, tel *telemetry.Telemetry) (*grpc.ClientConn, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("dial %q: %w", cfg.Addr, err)
	}
	secure, err := cfg.credentials(tel)
	if err != nil {
		return nil, fmt.Errorf("dial %q: tls: %w", cfg.Addr, err)
	}
	token, err := cfg.bearer(secure, tel)
	if err != nil {
		return nil, fmt.Errorf("dial %q: %w", cfg.Addr, err)
	}
	c := caller{reserve: cfg.Reserve, share: cfg.ReserveShare, retries: cfg.MaxAttempts > 1, patience: cfg.Patience, log: tel.Logger()}
	if cfg.Throttle {
		c.throttle = &throttle{}
	}
	opts := append([]grpc.DialOption{
		grpc.WithTransportCredentials(secure),
		grpc.WithStatsHandler(otelgrpc.NewClientHandler(
			otelgrpc.WithTracerProvider(tel.TracerProvider()),
			otelgrpc.WithMeterProvider(tel.MeterProvider()),
			otelgrpc.WithPropagators(tel.Propagator()),
			// Whether a replica is well is asked too often to be told of.
			otelgrpc.WithFilter(func(info *stats.RPCTagInfo) bool { return !strings.HasPrefix(info.FullMethodName, "/grpc.health.") }),
		)),
		grpc.WithStatsHandler(ear{}),
		grpc.WithUnaryInterceptor(c.unary),
		grpc.WithStreamInterceptor(c.stream),
		grpc.WithResolvers(&kubernetes.Builder{API: kubernetes.InCluster, Log: tel.Logger()}, listed{}),
		// The service config comes from here alone, not from DNS.
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(serviceConfig(cfg)),
		grpc.WithConnectParams(connecting),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: ping, Timeout: 10 * time.Second, PermitWithoutStream: true}),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(cfg.maxMessage()),
			grpc.MaxCallSendMsgSize(cfg.maxMessage()),
		),
	}, cfg.Options...)
	if token != nil {
		opts = append(opts, token)
	}
	conn, err := grpc.NewClient(target(cfg.Addr), opts...)
	if err != nil {
		return nil, fmt.Errorf("dial %q: %w", cfg.Addr, err)
	}
	return conn, nil
}

// credentials secure the connections as configured.
func (c Config) credentials(tel *telemetry.Telemetry) (credentials.TransportCredentials, error) {
	switch {
	case c.Credentials != nil:
		return c.Credentials, nil
	case !c.TLS.Enabled():
		return insecure.NewCredentials(), nil
	case c.Stage == "":
		return nil, errors.New("it is not said which stage must answer")
	}
	open := mtls.Open
	if c.shared {
		open = mtls.OpenSilent
	}
	source, err := open(c.TLS, tel)
	if err != nil {
		return nil, err
	}
	return mtls.Client(source, c.Stage), nil
}

// target resolves host:port by DNS, which finds every machine behind a
// headless service. In Kubernetes, kubernetes:///service.namespace:port hears
// of new pods at once.
func target(addr string) string {
	switch {
	case strings.Contains(addr, "://") || strings.HasPrefix(addr, "unix:"):
		return addr
	case strings.Contains(addr, ","):
		return listed{}.Scheme() + ":///" + addr
	}
	return "dns:///" + addr
}
