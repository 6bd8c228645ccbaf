package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/livefile"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// Meshed is the configuration for calls by a stage whose server is configured
// by a: it sends the secret by which stages know each other, unless it is told
// to send another token.
func (c Config) Meshed(a auth.Config) Config {
	if c.Token == "" && c.TokenFile == "" {
		c.Token, c.TokenFile = a.MeshToken, a.MeshTokenFile
		c.InsecureToken = c.InsecureToken || a.InsecureMeshToken
	}
	return c
}

// bearer sends the configured token with every call; nil where none is. A
// token that is sent in plain text over a network is anybody's, so that needs
// to be asked for.
func (c Config) bearer(secure credentials.TransportCredentials, tel *telemetry.Telemetry) (grpc.DialOption, error) {
	if c.Token == "" && c.TokenFile == "" {
		return nil, nil
	}
	plain := secure.Info().SecurityProtocol == "insecure"
	if plain && !c.InsecureToken && !local(c.Addr) {
		return nil, errors.New("the connection is plain, and whoever sits between would read the token: secure it (tls, or --ca), or set insecure_token (--insecure-token) where nobody can")
	}
	b := bearer{token: func() string { return c.Token }, plain: plain}
	if c.Token == "" {
		file, err := livefile.Open(c.TokenFile, auth.ParseToken, tel.Logger())
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

// RequireTransportSecurity has gRPC see to it that the connection is what it
// was said to be.
func (b bearer) RequireTransportSecurity() bool { return !b.plain }

// local tells whether an address is on this machine, whose own traffic nobody
// else sees; of several, whether all are.
func local(addr string) bool {
	if !strings.Contains(addr, "://") && strings.Contains(addr, ",") {
		return !slices.ContainsFunc(addresses(addr), func(one string) bool { return !local(one) })
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
	return host == "localhost" || ip != nil && (ip.IsLoopback() || ours(ip))
}

// ours tells whether an address is one of this machine's.
func ours(ip net.IP) bool {
	addrs, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}
