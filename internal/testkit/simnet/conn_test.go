package simnet_test

import (
	"net"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
)

// pair is a connection between two hosts that are well.
func pair(tb testing.TB, n *simnet.Network) (a, b net.Conn) {
	tb.Helper()
	from, to := n.Boot("a"), n.Boot("b")
	l, err := to.Listen()
	if err != nil {
		tb.Fatal(err)
	}
	if a, err = from.Dial(tb.Context(), "b:80"); err != nil {
		tb.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		tb.Fatal(err)
	}
	return a, b
}

func TestAConnectionIsANetConn(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		n := simnet.New(1)
		c1, c2 = pair(t, n)
		return c1, c2, n.Close, nil
	})
}
