package server

import (
	"context"
	"net"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/test/bufconn"

	"github.com/triplemesh/triplemesh/internal/client"
)

// localBuffer is the buffer of a local connection in each direction, in bytes.
const localBuffer = 256 << 10

// peerKey is the metadata with the address for which a local call is made. It is ignored on other
// calls.
const peerKey = "triplemesh-peer"

// Local returns an in-process connection to this server, for a Front. Its calls pass the whole
// chain like those from outside: the caller is identified by token, and is never a stage. The
// server need not serve until the first call. The caller must close the connection.
func (s *Server) Local() (*grpc.ClientConn, error) {
	cfg := client.DefaultConfig("passthrough:///local")
	cfg.MaxMessageBytes = s.cfg.maxMessage()
	// Retries and time reserves are up to the outside caller.
	cfg.MaxAttempts, cfg.Reserve, cfg.ReserveShare = 1, 0, 0
	cfg.Credentials = insecure.NewCredentials()
	cfg.Options = []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return s.local.DialContext(ctx)
		}),
		// A draining server reports NOT_SERVING, and still answers local calls.
		grpc.WithDisableHealthCheck(),
	}
	return client.Dial(cfg, s.tel)
}

// WithPeerAddr sets the peer address of local calls made with ctx.
func WithPeerAddr(ctx context.Context, addr string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, peerKey, addr)
}

// localListener accepts the connections of Local.
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

// localCredentials accept local connections unchanged, and secure all others.
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

// localInfo marks the calls of local connections. It carries no identity.
type localInfo struct{ credentials.CommonAuthInfo }

// AuthType implements credentials.AuthInfo.
func (localInfo) AuthType() string { return "local" }

// nameLocalPeer sets the peer of a local call to the address for which it is made.
var nameLocalPeer around = func(ctx context.Context, _ interceptors.CallMeta, next func(context.Context) error) error {
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
