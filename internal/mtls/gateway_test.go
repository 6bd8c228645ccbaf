package mtls_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/triplemesh/triplemesh/internal/mtls"
)

// gateway is a server whose certificate names a host and no stage, and the file
// of the authority that issued it.
func gateway(t *testing.T, host string) (server credentials.TransportCredentials, ca string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: true}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	ca = filepath.Join(t.TempDir(), "ca.crt")
	write(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der},
		PrivateKey: key}}}), ca
}

func TestAVisitorAtAGateway(t *testing.T) {
	for _, test := range []struct {
		name, host string
		says       string
	}{
		{"whose certificate names the host that was dialled", "127.0.0.1", ""},
		{"whose certificate names another", "mesh.example.org", "127.0.0.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, ca := gateway(t, test.host)
			visitor, err := mtls.Visitor{CAFile: ca}.Credentials("orchestrator")
			if err != nil {
				t.Fatal(err)
			}
			_, _, _, err = shake(t, server, visitor)
			wantError(t, "client", err, test.says)
		})
	}
}

func TestVisitorsWhoseFilesCannotBeUsed(t *testing.T) {
	_, ca := gateway(t, "127.0.0.1")
	for _, test := range []struct {
		name    string
		visitor mtls.Visitor
		says    string
	}{
		{"authorities that are not there", mtls.Visitor{CAFile: filepath.Join(t.TempDir(), "ca.crt")}, "no such file"},
		{"a certificate without a key", mtls.Visitor{CAFile: ca, CertFile: ca}, "go together"},
		{"a certificate for a key", mtls.Visitor{CAFile: ca, CertFile: ca, KeyFile: ca}, "ca.crt and"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.visitor.Credentials("orchestrator")
			wantError(t, "credentials", err, test.says)
		})
	}
}
