package mtls

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

// verify is who shows a chain of certificates. The error says whose it is, and
// why it is not believed.
func (m *material) verify(chain []*x509.Certificate, now time.Time) (spiffeid.ID, error) {
	if len(chain) == 0 {
		return spiffeid.ID{}, errors.New("no certificate was shown")
	}
	if id, err := x509svid.IDFromCert(chain[0]); err == nil && id.TrustDomain() != m.id.TrustDomain() {
		return spiffeid.ID{}, refused(chain[0], fmt.Errorf("it is not of the trust domain %s", m.id.TrustDomain()))
	}
	id, _, err := x509svid.Verify(chain, m.authorities, x509svid.WithTime(now))
	if err != nil {
		return spiffeid.ID{}, refused(chain[0], explain(err, now))
	}
	return id, nil
}

// refused names the certificate that is not believed.
func refused(leaf *x509.Certificate, why error) error {
	return fmt.Errorf("the certificate of %s, issued by %q for %s, is refused: %w", Holder(leaf), leaf.Issuer, validity(leaf), why)
}

// Holder is whom a certificate names, believed or not.
func Holder(c *x509.Certificate) string {
	if len(c.URIs) > 0 {
		return c.URIs[0].String()
	}
	return fmt.Sprintf("%q", c.Subject)
}

// explain says of the commonest faults what to look at.
func explain(err error, now time.Time) error {
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && now.Before(invalid.Cert.NotBefore):
		return fmt.Errorf("%s is valid only %s from now (it is %s here): compare the clocks of both machines",
			which(invalid.Cert), invalid.Cert.NotBefore.Sub(now).Round(time.Second), now.UTC().Format(time.RFC3339))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return fmt.Errorf("%s expired %s ago: renew it, or compare the clocks of both machines", which(invalid.Cert), now.Sub(invalid.Cert.NotAfter).Round(time.Second))
	case errors.As(err, &unknown):
		return errors.New("no authority that is believed here issued it")
	}
	return err
}

func which(c *x509.Certificate) string {
	if c.IsCA {
		return fmt.Sprintf("the authority %q", c.Subject)
	}
	return "it"
}
