package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// Probe asks a cluster for its version at its HTTP address, and whether its
// gRPC address, host:port, can be reached. key is a secret; empty sends none.
func Probe(ctx context.Context, base, grpc, key string) (version string, err error) {
	base = strings.TrimRight(base, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/meta", nil)
	if err != nil {
		return "", errors.New("the address of Weaviate is not a URL of the form http://HOST:8080")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("connect to %s: %w; is Weaviate running, and is this its HTTP address (port "+
			"8080 as a rule)?", req.URL.Redacted(), errors.Unwrap(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", req.URL.Redacted(), err)
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return "", fmt.Errorf("%s refuses the key (%s): name the environment variable that holds a right one",
			base, resp.Status)
	}
	var meta struct {
		Version string `json:"version"`
	}
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &meta) != nil || meta.Version == "" {
		return "", fmt.Errorf("%s answers (%s), but not as Weaviate does: is this its HTTP address?",
			req.URL.Redacted(), resp.Status)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", grpc)
	if err != nil {
		return "", fmt.Errorf("weaviate %s answers over HTTP, but no gRPC server answers at %s (%w): name its gRPC "+
			"address (port 50051 as a rule), and publish that port where it runs in a container", meta.Version, grpc,
			err)
	}
	return meta.Version, conn.Close()
}
