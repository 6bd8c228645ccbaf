package config

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The range of FreePort lies below the ephemeral ports (32768 and above on Linux, 49152 and above
// elsewhere) and below Kubernetes' node ports (30000 and above), so that the kernel gives the port
// to no other program before its server listens.
const firstFreePort, lastFreePort = 20000, 29999

// freePortTries bounds the search; with half of the ports taken it fails once in 10^30.
const freePortTries = 100

// FreePort returns a TCP port on which no program listens now at any of the hosts, for a server
// that cannot choose one itself: a child process, or one whose address must be known before it
// listens. The error is that of the last port tried.
func FreePort(hosts ...string) (port int, err error) {
	for range freePortTries {
		port = firstFreePort + rand.IntN(lastFreePort-firstFreePort+1)
		if err = probePort(port, hosts); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port from %d to %d: %w", firstFreePort, lastFreePort, err)
}

// probePort listens on the port at every host for a moment.
func probePort(port int, hosts []string) error {
	for _, host := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}
