package mtls

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// Server returns a service's server credentials. Client certificates are required or optional, and
// verified in both cases. The reason of a failed handshake is logged, since the client does not
// learn it.
func Server(s *Source, require bool) credentials.TransportCredentials {
	ask := tls.RequestClientCert
	if require {
		ask = tls.RequireAnyClientCert
	}
	return &serverCredentials{log: s.log, TransportCredentials: credentials.NewTLS(s.server(ask))}
}

// HTTPS is Server for connections of HTTP, whose clients are asked for a
// certificate only if require: browsers would have people choose one.
func HTTPS(s *Source, require bool) *tls.Config {
	ask := tls.NoClientCert
	if require {
		ask = tls.RequireAnyClientCert
	}
	return s.server(ask)
}

func (s *Source) server(ask tls.ClientAuthType) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		ClientAuth: ask,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return s.current().certificate, nil
		},
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return nil
			}
			_, err := s.current().verify(state.PeerCertificates, time.Now())
			return err
		},
		// A resumed session would be believed for what its first one showed.
		SessionTicketsDisabled: true,
	}
}

type serverCredentials struct {
	credentials.TransportCredentials
	log *slog.Logger
}

// ServerHandshake implements credentials.TransportCredentials.
func (c *serverCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		c.logRefused(raw.RemoteAddr(), err)
		return nil, nil, err
	}
	return conn, newPeer(info), nil
}

// logRefused logs why there is no connection. One that is closed before a word is
// said is a probe that looks whether the port is open.
func (c *serverCredentials) logRefused(from net.Addr, err error) {
	level := slog.LevelWarn
	if errors.Is(err, io.EOF) {
		level = slog.LevelDebug
	}
	attrs := []any{"peer", from.String(), "error", err}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		attrs = append(attrs, "advice", "the client speaks no TLS: have it dial with TLS, as server.tls says")
	}
	c.log.Log(context.Background(), level, logRefused, attrs...)
}

// Clone implements credentials.TransportCredentials.
func (c *serverCredentials) Clone() credentials.TransportCredentials {
	return &serverCredentials{c.TransportCredentials.Clone(), c.log}
}

// Peer is the other end of a TLS connection.
type Peer struct {
	credentials.TLSInfo
	// ID is the identity in its verified certificate; zero without one.
	ID spiffeid.ID
}

// newPeer goes by a handshake that has succeeded, so that what was shown is believed.
func newPeer(info credentials.AuthInfo) credentials.AuthInfo {
	secured, ok := info.(credentials.TLSInfo)
	if !ok {
		return info
	}
	p := Peer{TLSInfo: secured}
	if secured.SPIFFEID != nil {
		// It cannot fail: it was read when it was verified.
		p.ID, _ = spiffeid.FromURI(secured.SPIFFEID)
	}
	return p
}

// Stage is which stage it is; empty where it showed no certificate.
func (p Peer) Stage() string { return StageOf(p.ID) }

// PeerFrom returns the caller of a context's RPC; false if the connection is not secured by this
// package.
func PeerFrom(ctx context.Context) (Peer, bool) {
	if p, ok := peer.FromContext(ctx); ok {
		secured, ok := p.AuthInfo.(Peer)
		return secured, ok
	}
	return Peer{}, false
}
