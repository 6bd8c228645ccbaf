package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// checkAddress tells what is no host:port.
func checkAddress(addr string) error {
	if _, rest, isURL := strings.Cut(addr, "://"); isURL {
		return fmt.Errorf("%q is a URL: name host and port alone, such as %s", addr, orNone(strings.TrimRight(rest, "/"), "127.0.0.1:9090"))
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("%q is no address: name host and port, such as %s:9090", addr, orNone(strings.Trim(addr, ":"), "127.0.0.1"))
	}
	return nil
}

// speaksHTTP tells whether what does not answer gRPC answers HTTP/1.
func speaksHTTP(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://"+addr+"/", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return false
	}
	// A server of TLS says in plain HTTP that it wants TLS.
	return resp.Body.Close() == nil && resp.StatusCode != http.StatusBadRequest
}

// taken tells whether anything listens at an address.
func taken(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	return err == nil && conn.Close() == nil
}
