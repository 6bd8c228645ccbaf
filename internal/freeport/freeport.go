// Package freeport finds a TCP port for a server that cannot choose one itself:
// a child process, or one whose address others must know before it listens.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are looked for from first to last. They lie under those that the kernel
// hands out to whoever connects or asks for any (32768 and above on Linux, 49152
// and above elsewhere) and under Kubernetes' node ports (30000 and above), so
// that no other program is given one before its server listens.
const first, last = 20000, 29999

// tries bounds the search; with half of the ports taken it fails once in 10^30.
const tries = 100

// Find is a port at which nobody listens now, at any of the hosts. The error
// says why the last one tried could not be had.
func Find(hosts ...string) (port int, err error) {
	for range tries {
		port = first + rand.IntN(last-first+1)
		if err = free(port, hosts); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port from %d to %d: %w", first, last, err)
}

func free(port int, hosts []string) error {
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
