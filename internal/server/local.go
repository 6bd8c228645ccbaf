package server

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/test/bufconn"

	"github.com/triplemesh/triplemesh/internal/client"
)

// localBuffer is how many bytes of a local connection may be under way in each
// direction.
const localBuffer = 256 << 10

// peerKey is the metadata by which a local call says for whose address it is
// made. Of other calls it is not believed.
const peerKey = "triplemesh-peer"

// Local makes a connection to this server from within its own process, for
// whatever takes calls by another protocol. Its calls go through the whole
// chain, as those from outside do: who calls is for their token to say, and a
// local call is never one of a stage. The server need not serve yet; it must
// when the first call is made. The caller closes the connection.
func (s *Server) Local() (*grpc.ClientConn, error) {
	cfg := client.DefaultConfig("passthrough:///local")
	cfg.MaxMessageBytes = s.cfg.maxMessage()
	// Whoever calls from outside may try again, and has no time kept back.
	cfg.MaxAttempts, cfg.Reserve, cfg.ReserveShare = 1, 0, 0
	cfg.Credentials = insecure.NewCredentials()
	cfg.Options = []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return s.local.DialContext(ctx) }),
		// While the server drains it says NOT_SERVING to the world, and answers
		// what still comes.
		grpc.WithDisableHealthCheck(),
	}
	return client.Dial(cfg, s.tel)
}

// For gives local calls made with ctx the address for which they are made, in
// the place of the process's own.
func For(ctx context.Context, addr string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, peerKey, addr)
}

// localListener takes the connections of Local.
type localListener struct{ *bufconn.Listener }

func newLocalListener() localListener { return localListener{bufconn.Listen(localBuffer)} }

// Accept implements net.Listener.
func (l localListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return localConn{conn}, nil
}

type localConn struct{ net.Conn }

// localCredentials let local connections in as they are, and secure all others.
type localCredentials struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials.
func (c localCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if conn, ok := raw.(localConn); ok {
		return conn, localInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}, nil
	}
	return c.TransportCredentials.ServerHandshake(raw)
}

// Clone implements credentials.TransportCredentials.
func (c localCredentials) Clone() credentials.TransportCredentials {
	return localCredentials{c.TransportCredentials.Clone()}
}

// localInfo marks the calls of local connections. It names nobody.
type localInfo struct{ credentials.CommonAuthInfo }

// AuthType implements credentials.AuthInfo.
func (localInfo) AuthType() string { return "local" }

// nameLocalPeer gives a local call the address for which it is made.
func nameLocalPeer(ctx context.Context, _ string, next func(context.Context) error) error {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return next(ctx)
	}
	info, ok := p.AuthInfo.(localInfo)
	if given := metadata.ValueFromIncomingContext(ctx, peerKey); ok && len(given) == 1 {
		ctx = peer.NewContext(ctx, &peer.Peer{Addr: peerAddr(given[0]), AuthInfo: info})
	}
	return next(ctx)
}

// peerAddr is the address for which a local call is made.
type peerAddr string

// Network implements net.Addr.
func (peerAddr) Network() string { return "tcp" }

// String implements net.Addr.
func (a peerAddr) String() string { return string(a) }
