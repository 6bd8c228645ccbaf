package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// LoadTLS returns a configuration that verifies the server by the authorities of a PEM file, and
// presents a client certificate if its files are given.
func LoadTLS(caFile, certFile, keyFile string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("load certificate authority: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("load certificate authority: %s: no certificate; give a PEM file", caFile)
		}
	}
	if certFile != "" || keyFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("load client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func makeCredentials(target string, o options) ([]grpc.DialOption, error) {
	transport := insecure.NewCredentials()
	if o.tls != nil {
		transport = credentials.NewTLS(o.tls)
	}
	opts := []grpc.DialOption{grpc.WithTransportCredentials(transport)}
	if o.token == "" {
		return opts, nil
	}
	plain := o.insecureToken || isLoopback(target)
	if o.tls == nil && !plain {
		return nil, errors.New("the token would be sent in plaintext; use WithTLS, or WithInsecureToken")
	}
	return append(opts, grpc.WithPerRPCCredentials(bearer{o.token, o.tls != nil})), nil
}

// isLoopback reports whether a target is an address of this machine.
func isLoopback(target string) bool {
	host, _, err := net.SplitHostPort(target)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// bearer sends a token with each call.
type bearer struct {
	token    string
	needsTLS bool
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.needsTLS }
