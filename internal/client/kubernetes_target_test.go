package client

import (
	"net/url"
	"testing"
)

// What a target names goes into a URL.
func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"verifier.mesh:50051", "verifier:grpc", "verifier.mesh.svc.cluster.local:1", "a.b:0",
		"a/b.c:1", "a.b:70000", "[::1]:1", "..:1", "a.b.svc%2f:1"} {
		f.Add(seed, "own")
	}
	f.Fuzz(func(t *testing.T, endpoint, own string) {
		of, err := parseTarget(endpoint, own)
		if err != nil {
			return
		}
		if url.PathEscape(of.name) != of.name || url.PathEscape(of.namespace) != of.namespace || of.name == "" ||
			of.namespace == "" || of.port == "" {
			t.Errorf("%q names %+v", endpoint, of)
		}
	})
}
