package web

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// turnedAway answers a connection that is one too many, whatever it asks.
const turnedAway = "HTTP/1.1 503 Service Unavailable\r\n" +
	"Retry-After: %d\r\nConnection: close\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n\r\n%s"

// turnedAwayBody is the same for all of them, so that none costs anything.
const turnedAwayBody = `{"type":"about:blank","title":"Service Unavailable","status":503,` +
	`"detail":"there are too many connections (orchestrator.http.max_connections); try again in a second",` +
	`"code":"RESOURCE_EXHAUSTED","retryAfter":1}` + "\n"

// limitConnections closes connections that come while most others are open. A
// plain one is told why.
func limitConnections(lis net.Listener, most int, secured bool) net.Listener {
	if most == 0 {
		return lis
	}
	return &limited{Listener: lis, most: int64(most), secured: secured}
}

type limited struct {
	net.Listener
	most    int64
	secured bool
	open    atomic.Int64
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &counted{Conn: conn, open: &l.open}, nil
		}
		l.open.Add(-1)
		l.turnAway(conn)
	}
}

// turnAway never waits: a few hundred bytes fit into what the system keeps for
// a connection.
func (l *limited) turnAway(conn net.Conn) {
	if !l.secured {
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, _ = fmt.Fprintf(conn, turnedAway, int(retryAfter.Seconds()), len(turnedAwayBody), turnedAwayBody)
	}
	_ = conn.Close()
}

// counted is an open connection until it is closed.
type counted struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}
