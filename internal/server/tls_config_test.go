package server_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/server"
)

func TestTLSIsConfiguredOnceForAllStages(t *testing.T) {
	type stage struct {
		Server server.Config `koanf:"server"`
	}
	defaults := stage{server.DefaultConfig("localhost:0")}
	file := filepath.Join(t.TempDir(), "triplemesh.yaml")
	text := `
server:
  tls: {cert_file: "certs/{stage}/tls.crt", key_file: "certs/{stage}/tls.key", ca_file: certs/ca.crt}
verifier:
  server: {tls: {require: false, peers: [orchestrator, gateway]}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, stage string
		env         []string
		says        string // in the error; empty for none
		check       func(server.TLSConfig) bool
	}{
		{"the shared section", "reflector", nil, "", func(c server.TLSConfig) bool {
			return c.CertFile == "certs/{stage}/tls.crt" && c.CAFile == "certs/ca.crt" && c.Require == nil &&
				len(c.Peers) == 0
		}},
		{"a stage's own beside it", "verifier", nil, "", func(c server.TLSConfig) bool {
			return c.CAFile == "certs/ca.crt" && c.Require != nil && !*c.Require && len(c.Peers) == 2
		}},
		{"variables", "reflector", []string{"TRIPLEMESH_SERVER_TLS_REQUIRE=true",
			"TRIPLEMESH_REFLECTOR_SERVER_TLS_PEERS=a,b"}, "", func(c server.TLSConfig) bool {
			return *c.Require && reflect.DeepEqual(c.Peers, []string{"a", "b"})
		}},
		{"a trust domain that is none", "reflector", []string{"TRIPLEMESH_SERVER_TLS_TRUST_DOMAIN=Mine"},
			"server.tls: trust_domain", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := config.Load(test.stage, defaults, config.Sources{File: file, Env: test.env})
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("got %v, want %q in it", err, test.says)
				}
				return
			}
			if err != nil || !test.check(got.Server.TLS) {
				t.Fatalf("got %+v, %v", got.Server.TLS, err)
			}
			// What is printed can be read again.
			var printed bytes.Buffer
			if err := config.Print(&printed, test.stage, defaults,
				config.Sources{File: file, Env: test.env}); err != nil {
				t.Fatal(err)
			}
			again := filepath.Join(t.TempDir(), "printed.yaml")
			if err := os.WriteFile(again, printed.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if same, err := config.Load(test.stage, defaults, config.Sources{File: again}); err != nil ||
				!test.check(same.Server.TLS) {
				t.Errorf("printed and read again: %+v, %v\n%s", same.Server.TLS, err, printed.String())
			}
		})
	}
}
