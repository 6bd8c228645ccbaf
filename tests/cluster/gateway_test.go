//go:build cluster

package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAGateway asks through a Gateway with a certificate of cert-manager.
func TestAGateway(t *testing.T) {
	needPrograms(t, "cert-manager", "traefik")
	needImages(t)
	deploy(t)
	loadSnapshots(t)
	kubectl(t, "set", "env", "deployment/orchestrator",
		"TRIPLEMESH_ORCHESTRATOR_HTTP_ALLOWED_HOSTS=console.example.com")
	waitForRollout(t, "orchestrator")
	begun := time.Now()
	applyKustomization(t, "gateway")
	t.Cleanup(func() {
		if _, err := run("", "kubectl", "delete", "-k", "gateway"); err != nil {
			t.Error(err)
		}
	})
	authority := secret(t, "gateway-system", "gateway-tls", "ca.crt")
	figure("certificate of the Gateway", "issued %.0f s after cert-manager was deployed", time.Since(begun).Seconds())
	rollout(t, "gateway-system", "traefik")
	gateway := forwardIn(t, "gateway-system", "deployment/traefik", 8443)
	t.Run("a question by gRPC", func(t *testing.T) { asksThrough(t, gateway, authority) })
	t.Run("a question by HTTP", func(t *testing.T) { asksByHTTP(t, gateway, authority) })
}

func asksThrough(t *testing.T, gateway string, authority []byte) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	await(t, "route for gRPC", patience, func() error {
		out, err := askOver(t, gateway, "pg-akv", "-cacert", file, "-authority", "triplemesh.example.com")
		if err != nil {
			return err
		}
		var a askResult
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			return err
		}
		if len(a.Run.Answers) != 1 || a.Run.Answers[0].Answer != employer {
			return fmt.Errorf("got %s", out)
		}
		return nil
	})
	if _, err := askOver(t, gateway, "pg-akv", "-plaintext", "-authority", "triplemesh.example.com"); err == nil {
		t.Error("the Gateway answers without TLS")
	}
}

func asksByHTTP(t *testing.T, gateway string, authority []byte) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, gateway)
		},
	}}
	defer client.CloseIdleConnections()
	request := fmt.Appendf(nil, `{"question": %q, "method": "pg-akv", "kg": {"name": %q}}`, employerQuestion, wikidata)
	await(t, "route for HTTP", patience, func() error {
		resp, err := client.Post("https://console.example.com/api/v1/ask", "application/json",
			bytes.NewReader(request))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		var a askResult
		if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
			return fmt.Errorf("%s: %w", resp.Status, err)
		}
		if len(a.Run.Answers) != 1 || a.Run.Answers[0].Answer != employer {
			return fmt.Errorf("%s: got %+v", resp.Status, a)
		}
		return nil
	})
}
