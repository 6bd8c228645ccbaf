package testkit

import (
	"net"
	"strconv"
	"testing"

	"github.com/triplemesh/triplemesh/internal/config"
)

// FreeAddr is a loopback HOST:PORT at which nobody listens, for a server that
// takes its listener from a setting, or for nobody.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	return net.JoinHostPort("127.0.0.1", FreePort(tb, "127.0.0.1"))
}

// FreePort is a port at which nobody listens, at any of the hosts.
func FreePort(tb testing.TB, hosts ...string) string {
	tb.Helper()
	port, err := config.FreePort(hosts...)
	if err != nil {
		tb.Fatal(err)
	}
	return strconv.Itoa(port)
}
