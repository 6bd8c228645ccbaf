package mtls

import (
	"testing"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte(""), []byte("x"))
	f.Add([]byte(""), []byte("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"), []byte(""))
	f.Fuzz(func(t *testing.T, cert, key, ca []byte) {
		m, err := Files{CertFile: "tls.crt", KeyFile: "tls.key", CAFile: "ca.crt"}.parse(contents{cert, key, ca},
			"retriever")
		if err == nil && StageOf(m.id) != "retriever" {
			t.Errorf("it is taken for %s", m.id)
		}
		if all, err := ParseCertificates("ca.crt", ca); err == nil && len(all) == 0 {
			t.Error("no certificate and no error")
		}
	})
}
