package mtls

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

// contents are what the files hold.
type contents struct{ cert, key, ca []byte }

func (f Files) read() (c contents, err error) {
	for _, file := range []struct {
		path string
		to   *[]byte
	}{{f.CertFile, &c.cert}, {f.KeyFile, &c.key}, {f.CAFile, &c.ca}} {
		if *file.to, err = os.ReadFile(file.path); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c contents) equal(other contents) bool {
	return bytes.Equal(c.cert, other.cert) && bytes.Equal(c.key, other.key) && bytes.Equal(c.ca, other.ca)
}

// material is a certificate with its key, and the authorities that are
// believed: what a handshake needs.
type material struct {
	certificate *tls.Certificate
	id          spiffeid.ID
	authorities *x509bundle.Bundle
}

// parse reads what the files of a service hold. The error names the file.
func (f Files) parse(c contents, service string) (*material, error) {
	pair, err := tls.X509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.CertFile, f.KeyFile, err)
	}
	id, err := x509svid.IDFromCert(pair.Leaf)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: want one URI spiffe://TRUST-DOMAIN/STAGE among its subject alternative names", f.CertFile, err)
	}
	td, err := f.trustDomain()
	switch {
	case err != nil:
		return nil, err
	case !td.IsZero() && td != id.TrustDomain():
		return nil, fmt.Errorf("%s: it is the certificate of %s, which is not of the trust domain %s", f.CertFile, id, td)
	case StageOf(id) != service:
		return nil, fmt.Errorf("%s: it is the certificate of %s, and this is the %s: nobody would believe it", f.CertFile, id, service)
	}
	authorities, err := x509bundle.Parse(id.TrustDomain(), c.ca)
	if err == nil && authorities.Empty() {
		err = errors.New("no certificate in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.CAFile, err)
	}
	return &material{certificate: &pair, id: id, authorities: authorities}, nil
}

// expiry is when the certificate is believed for the last time.
func (m *material) expiry() time.Time {
	end := m.certificate.Leaf.NotAfter
	if a := m.authorityExpiry(); a.Before(end) {
		return a
	}
	return end
}

// authorityExpiry is the end of the authority that lasts longest: those that
// are being replaced end before it, as they should.
func (m *material) authorityExpiry() (last time.Time) {
	for _, a := range m.authorities.X509Authorities() {
		if a.NotAfter.After(last) {
			last = a.NotAfter
		}
	}
	return last
}

// validity is the time from which to which a certificate holds.
func validity(c *x509.Certificate) string {
	return fmt.Sprintf("%s to %s", c.NotBefore.UTC().Format(time.RFC3339), c.NotAfter.UTC().Format(time.RFC3339))
}
