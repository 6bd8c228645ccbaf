package mtls

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

// verify returns the identity of a certificate chain. The error names the certificate and the
// reason.
func (m *material) verify(chain []*x509.Certificate, now time.Time) (spiffeid.ID, error) {
	if len(chain) == 0 {
		return spiffeid.ID{}, errors.New("no certificate was shown")
	}
	if id, err := x509svid.IDFromCert(chain[0]); err == nil && id.TrustDomain() != m.id.TrustDomain() {
		return spiffeid.ID{}, refusedError(chain[0], fmt.Errorf("it is not of the trust domain %s", m.id.TrustDomain()))
	}
	id, _, err := x509svid.Verify(chain, m.authorities, x509svid.WithTime(now))
	if err != nil {
		return spiffeid.ID{}, refusedError(chain[0], explain(err, now))
	}
	return id, nil
}

func refusedError(leaf *x509.Certificate, why error) error {
	return fmt.Errorf("the certificate of %s, issued by %q for %s, is refused: %w", Holder(leaf), leaf.Issuer,
		validity(leaf), why)
}

// Holder returns the name in a certificate, verified or not.
func Holder(c *x509.Certificate) string {
	if len(c.URIs) > 0 {
		return c.URIs[0].String()
	}
	return fmt.Sprintf("%q", c.Subject)
}

// explain adds advice to the most common verification errors.
func explain(err error, now time.Time) error {
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil &&
		now.Before(invalid.Cert.NotBefore):
		return fmt.Errorf("%s is valid only %s from now (it is %s here): compare the clocks of both machines",
			describe(invalid.Cert), invalid.Cert.NotBefore.Sub(now).Round(time.Second), now.UTC().Format(time.RFC3339))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return fmt.Errorf("%s expired %s ago: renew it, or compare the clocks of both machines", describe(invalid.Cert),
			now.Sub(invalid.Cert.NotAfter).Round(time.Second))
	case errors.As(err, &unknown):
		return errors.New("no authority that is believed here issued it")
	}
	return err
}

func describe(c *x509.Certificate) string {
	if c.IsCA {
		return fmt.Sprintf("the authority %q", c.Subject)
	}
	return "it"
}

// contents are what the files hold.
type contents struct{ cert, key, ca []byte }

func (f Files) load() (c contents, err error) {
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
		return nil, fmt.Errorf("%s: %w: want one URI spiffe://TRUST-DOMAIN/STAGE among its subject alternative names",
			f.CertFile, err)
	}
	td, err := f.trustDomain()
	switch {
	case err != nil:
		return nil, err
	case !td.IsZero() && td != id.TrustDomain():
		return nil, fmt.Errorf("%s: it is the certificate of %s, which is not of the trust domain %s",
			f.CertFile, id, td)
	case StageOf(id) != service:
		return nil, fmt.Errorf("%s: it is the certificate of %s, and this is the %s: clients would reject it",
			f.CertFile, id, service)
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

// ParseCertificates reads the certificates of a PEM file, and passes over what
// else stands in it. The error names the file.
func ParseCertificates(name string, data []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: certificate %d: %w", name, len(all)+1, err)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no certificate in it: want PEM, -----BEGIN CERTIFICATE-----", name)
	}
	return all, nil
}
