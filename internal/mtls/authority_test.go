package mtls

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"
)

func TestWhatIsIssued(t *testing.T) {
	a, kept, err := NewAuthority("triplemesh.test")
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseAuthority(kept)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.Cert())
	for name, issuer := range map[string]*Authority{"by a new authority": a, "by one that was read": again} {
		t.Run(name, func(t *testing.T) {
			end := time.Now().Add(24 * time.Hour).Truncate(time.Second)
			pair, err := issuer.Issue(CertificateRequest{Stage: "retriever", Hosts: []string{"localhost", "127.0.0.1"},
				To: end})
			if err != nil {
				t.Fatal(err)
			}
			both, err := tls.X509KeyPair(pair.Cert, pair.Key)
			if err != nil {
				t.Fatal(err)
			}
			for _, host := range []string{"localhost", "127.0.0.1"} {
				for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
					if _, err := both.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host,
						KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
						t.Error(err)
					}
				}
			}
			if len(both.Leaf.URIs) != 1 || both.Leaf.URIs[0].String() != "spiffe://triplemesh.test/retriever" ||
				both.Leaf.IsCA {
				t.Errorf("it names %v", both.Leaf.URIs)
			}
			if !both.Leaf.NotAfter.Equal(end) || !both.Leaf.NotBefore.Before(time.Now().Add(-time.Minute)) {
				t.Errorf("it is valid from %s to %s", both.Leaf.NotBefore, both.Leaf.NotAfter)
			}
			if key, ok := both.PrivateKey.(*ecdsa.PrivateKey); !ok || key.Params().BitSize != 256 {
				t.Errorf("its key is a %T", both.PrivateKey)
			}
		})
	}
}

func TestNothingOutlivesItsAuthority(t *testing.T) {
	a, _, err := NewAuthority("triplemesh.test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := a.Issue(CertificateRequest{Stage: "retriever", To: time.Now().AddDate(100, 0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	both, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	if both.Leaf.NotAfter.After(time.Now().AddDate(11, 0, 0)) {
		t.Errorf("it is valid until %s", both.Leaf.NotAfter)
	}
}

func TestWhatIsNotIssued(t *testing.T) {
	a, kept, err := NewAuthority("triplemesh.test")
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Add(time.Hour)
	for _, test := range []struct {
		name string
		do   func() error
		says string
	}{
		{"a certificate of nobody", func() error { _, err := a.Issue(CertificateRequest{To: hour}); return err },
			"name of a stage"},
		{"a name that leads elsewhere", func() error {
			_, err := a.Issue(CertificateRequest{Stage: "../x", To: hour})
			return err
		}, "name of a stage"},
		{"a name of two parts", func() error {
			_, err := a.Issue(CertificateRequest{Stage: "a/b", To: hour})
			return err
		}, "name of a stage"},
		{"a certificate that has ended", func() error {
			_, err := a.Issue(CertificateRequest{Stage: "retriever", To: time.Now().Add(-time.Hour)})
			return err
		}, "never be valid"},
		{"an authority of no trust domain", func() error { _, _, err := NewAuthority("Not One"); return err },
			"is no trust domain"},
		{"an authority that is a stage", func() error {
			pair, err := a.Issue(CertificateRequest{Stage: "retriever", To: hour})
			if err != nil {
				return err
			}
			_, err = ParseAuthority(pair)
			return err
		}, "not the certificate of an authority"},
		{"an authority without its key",
			func() error { _, err := ParseAuthority(KeyPair{Cert: kept.Cert}); return err }, "key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.do(); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q in it", err, test.says)
			}
		})
	}
}
