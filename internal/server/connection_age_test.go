package server_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/server"
)

// countingConn is a listener that counts its open connections.
type countingConn struct {
	net.Listener
	made, open *atomic.Int64
}

func (l countingConn) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.made.Add(1)
	l.open.Add(1)
	return &countedConn{Conn: conn, open: l.open}, nil
}

type countedConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// A client watches the health of a server all the time. That must not keep
// connections that are too old, whatever time RPCs are given to end.
func TestOldConnectionsEndAlthoughTheirHealthIsWatched(t *testing.T) {
	var made, open atomic.Int64
	r := start(t, "reflector", answering(echo), aging, func(cfg *server.Config) {
		cfg.MaxConnectionAgeGrace = time.Hour
		cfg.Listener = countingConn{cfg.Listener, &made, &open}
	})
	deadline := time.Now().Add(time.Minute)
	for made.Load() < 8 || open.Load() > 2 {
		if _, err := r.reflect(t.Context(), "again"); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d connections are open", open.Load(), made.Load())
		}
	}
}
