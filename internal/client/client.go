// Package client makes the connections between services: balanced over all replicas of a service,
// with health checks, one layer of retries, and deadlines that leave the caller time to answer.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // client-side health checking
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// keepaliveInterval is twice the shortest that internal/server allows.
const keepaliveInterval = 20 * time.Second

// connectParams limit the backoff of connections. gRPC's grows to two minutes, so that a stage which
// was down that long would seem down for as long again; servers are few enough to be tried often.
var connectParams = grpc.ConnectParams{
	Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2,
		MaxDelay: 3 * time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// Dial makes a connection to a service. It sends nothing before the first call, so the service need
// not run yet. The error names the wrong setting. The caller must close the connection.
func Dial(cfg Config, tel *telemetry.Telemetry, options ...Option) (*grpc.ClientConn, error) {
	for _, o := range options {
		o(&cfg)
	}
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
	c := caller{reserve: cfg.Reserve, share: cfg.ReserveShare, retries: cfg.MaxAttempts > 1, patience: cfg.Patience,
		log: tel.Logger()}
	if cfg.Throttle {
		c.throttle = &throttle{}
	}
	opts := append([]grpc.DialOption{
		grpc.WithTransportCredentials(secure),
		grpc.WithStatsHandler(otelgrpc.NewClientHandler(
			otelgrpc.WithTracerProvider(tel.TracerProvider()),
			otelgrpc.WithMeterProvider(tel.MeterProvider()),
			otelgrpc.WithPropagators(tel.Propagator()),
			// Health checks are too frequent for spans and metrics.
			otelgrpc.WithFilter(func(info *stats.RPCTagInfo) bool {
				return !strings.HasPrefix(info.FullMethodName, "/grpc.health.")
			}),
		)),
		grpc.WithStatsHandler(signHandler{}),
		grpc.WithChainUnaryInterceptor(c.unaryChain()...),
		grpc.WithStreamInterceptor(c.stream),
		grpc.WithResolvers(&kubernetesBuilder{API: inCluster, Log: tel.Logger()}, listed{}),
		// A service config from DNS is ignored.
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(serviceConfig(cfg)),
		grpc.WithConnectParams(connectParams),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveInterval, Timeout: 10 * time.Second,
			PermitWithoutStream: true}),
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

func (c Config) credentials(tel *telemetry.Telemetry) (credentials.TransportCredentials, error) {
	switch {
	case c.Credentials != nil:
		return c.Credentials, nil
	case !c.TLS.Enabled():
		return insecure.NewCredentials(), nil
	case c.Stage == "":
		return nil, errors.New("the stage that must answer is not set")
	}
	open := mtls.Open
	if c.sharesFiles {
		open = mtls.OpenSilent
	}
	source, err := open(c.TLS, tel)
	if err != nil {
		return nil, err
	}
	return mtls.Client(source, c.Stage), nil
}

// target resolves host:port by DNS, which lists every pod behind a headless service. In Kubernetes,
// kubernetes:///service.namespace:port learns of new pods immediately.
func target(addr string) string {
	switch {
	case strings.Contains(addr, "://") || strings.HasPrefix(addr, "unix:"):
		return addr
	case strings.Contains(addr, ","):
		return listed{}.Scheme() + ":///" + addr
	}
	return "dns:///" + addr
}

// bearer returns the option that sends the configured token with every call, or nil without a token.
// Sending it in plain text over a network must be allowed explicitly.
func (c Config) bearer(secure credentials.TransportCredentials, tel *telemetry.Telemetry) (grpc.DialOption, error) {
	if c.Token == "" && c.TokenFile == "" {
		return nil, nil
	}
	plain := secure.Info().SecurityProtocol == "insecure"
	if plain && !c.InsecureToken && !isLocal(c.Addr) {
		return nil,
			errors.New("the token would be sent over a plain connection; enable TLS (tls, or --ca), or allow it " +
				"with insecure_token (--insecure-token)")
	}
	b := bearer{token: func() string { return c.Token }, plain: plain}
	if c.Token == "" {
		file, err := config.OpenLiveFile(c.TokenFile, auth.ParseToken, tel.Logger())
		if err != nil {
			return nil, fmt.Errorf("token_file: %w", err)
		}
		b.token = file.Get
	}
	return grpc.WithPerRPCCredentials(b), nil
}

// bearer implements credentials.PerRPCCredentials.
type bearer struct {
	token func() string
	plain bool
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token()}, nil
}

func (b bearer) RequireTransportSecurity() bool { return !b.plain }

// isLocal reports whether an address, or every address of a list, is on this machine, whose loopback
// traffic other machines cannot read.
func isLocal(addr string) bool {
	if !strings.Contains(addr, "://") && strings.Contains(addr, ",") {
		return !slices.ContainsFunc(addresses(addr), func(one string) bool { return !isLocal(one) })
	}
	if strings.HasPrefix(addr, "unix:") || strings.HasPrefix(addr, "unix-abstract:") {
		return true
	}
	if i := strings.LastIndex(addr, "/"); strings.Contains(addr, "://") {
		addr = addr[i+1:]
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || isOwnIP(ip))
}

// isOwnIP reports whether an interface of this machine has the address.
func isOwnIP(ip net.IP) bool {
	addrs, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}
