package main

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// dial connects to a mesh: over TLS where an authority is named. A token is
// sent with every call, but never to another machine in plain text.
func dial(server, ca, token string) (*grpc.ClientConn, error) {
	secure := insecure.NewCredentials()
	if ca != "" {
		var err error
		if secure, err = credentials.NewClientTLSFromFile(ca, ""); err != nil {
			return nil, err
		}
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(secure)}
	if token != "" {
		options = append(options, grpc.WithPerRPCCredentials(bearer{token, !here(server)}))
	}
	return grpc.NewClient(server, options...)
}

// here tells whether an address is this machine.
func here(server string) bool {
	host, _, err := net.SplitHostPort(server)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// bearer is a token; gRPC refuses to send it where it needs TLS and there is
// none.
type bearer struct {
	token    string
	needsTLS bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (b bearer) RequireTransportSecurity() bool { return b.needsTLS }
