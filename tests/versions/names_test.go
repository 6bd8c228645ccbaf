//go:build versions

package versions

import (
	"net"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// replicas are the addresses of the two processes of each stage: a machine has all of 127.0.0.0/8,
// so two can listen on the same port.
var replicas = [2][4]byte{{127, 0, 0, 1}, {127, 0, 0, 2}}

// serveNames resolves every name to both replicas, like a headless service, until the test ends. It
// returns the prefix that makes gRPC resolve a name there.
func serveNames(tb testing.TB) string {
	tb.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return // the test has ended
			}
			if answer, err := resolve(buffer[:n]); err == nil {
				_, _ = conn.WriteTo(answer, from) // the resolver retries
			}
		}
	}()
	return "dns://" + conn.LocalAddr().String() + "/"
}

func resolve(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.RecursionAvailable, m.Additionals = true, true, true, nil
	for _, q := range m.Questions {
		if q.Type != dnsmessage.TypeA {
			continue
		}
		for _, ip := range replicas {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60},
				Body:   &dnsmessage.AResource{A: ip},
			})
		}
	}
	return m.Pack()
}
