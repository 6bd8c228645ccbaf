package mtls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc/credentials"
)

// Client secures the connections that a service makes to a stage: the server
// must be that stage by its certificate, whatever its host is called.
func Client(s *Source, stage string) credentials.TransportCredentials {
	return newClient(func(string) *tls.Config {
		return &tls.Config{
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return s.current().certificate, nil
			},
			VerifyConnection: func(state tls.ConnectionState) error {
				id, err := s.current().verify(state.PeerCertificates, time.Now())
				if err != nil {
					return err
				}
				return checkStage(stage, StageOf(id), state.PeerCertificates[0])
			},
		}
	})
}

// checkStage compares the stage that was dialled with the one that answered.
func checkStage(stage, answered string, leaf *x509.Certificate) error {
	if answered != stage {
		return fmt.Errorf("the %s was dialled, and %s answered: correct the address, or the certificate of that server",
			stage, Holder(leaf))
	}
	return nil
}

// newClient makes credentials whose configuration may know the host that is dialled.
func newClient(config func(host string) *tls.Config) credentials.TransportCredentials {
	return &clientCredentials{credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS13}), config}
}

type clientCredentials struct {
	credentials.TransportCredentials
	config func(host string) *tls.Config
}

// ClientHandshake implements credentials.TransportCredentials.
func (c *clientCredentials) ClientHandshake(ctx context.Context, authority string,
	raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	host, _, err := net.SplitHostPort(authority)
	if err != nil {
		host = authority
	}
	config := c.config(host)
	config.MinVersion = tls.VersionTLS13
	// The chain is verified by VerifyConnection, which knows identities.
	config.InsecureSkipVerify = true
	conn, info, err := credentials.NewTLS(config).ClientHandshake(ctx, authority, raw)
	if err != nil {
		return nil, nil, err
	}
	return conn, newPeer(info), nil
}

// Clone implements credentials.TransportCredentials.
func (c *clientCredentials) Clone() credentials.TransportCredentials {
	return &clientCredentials{c.TransportCredentials.Clone(), c.config}
}
