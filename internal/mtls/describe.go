package mtls

import (
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"time"
)

// Certificate describes a certificate for people and programs.
type Certificate struct {
	File string `json:"file"`
	// Identity is a stage, or the trust domain of a CA.
	Identity  string    `json:"identity"`
	Authority bool      `json:"authority"`
	Issuer    string    `json:"issuer"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
	Hosts     []string  `json:"hosts,omitempty"`
	// Believed reports whether the certificate verifies against the roots, and Why why not; nil
	// without roots.
	Believed *bool  `json:"believed,omitempty"`
	Why      string `json:"why,omitempty"`
}

// Describe describes the certificates of a PEM file, and verifies them unless roots is nil. Each may
// have been issued by one that follows it.
func Describe(file string, data []byte, roots *x509.CertPool) ([]Certificate, error) {
	parsed, err := ParseCertificates(file, data)
	if err != nil {
		return nil, err
	}
	var all []Certificate
	for i, c := range parsed {
		all = append(all, describeOne(file, c, parsed[i+1:], roots))
	}
	return all, nil
}

func describeOne(file string, c *x509.Certificate, others []*x509.Certificate, roots *x509.CertPool) Certificate {
	d := Certificate{
		File: file, Identity: Holder(c), Authority: c.IsCA, Issuer: c.Issuer.String(),
		NotBefore: c.NotBefore, NotAfter: c.NotAfter, Hosts: slices.Clone(c.DNSNames),
	}
	for _, ip := range c.IPAddresses {
		d.Hosts = append(d.Hosts, ip.String())
	}
	if roots == nil {
		return d
	}
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	for _, other := range others {
		options.Intermediates.AddCert(other)
	}
	_, err := c.Verify(options)
	believed := err == nil
	d.Believed = &believed
	if err != nil {
		d.Why = err.Error()
	}
	return d
}

// ReadRoots reads trusted CAs; nil if no file is named.
func ReadRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	parsed, err := ParseCertificates(file, data)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	for _, c := range parsed {
		roots.AddCert(c)
	}
	return roots, nil
}

// ValidNow describes the remaining validity of a certificate.
func (c Certificate) ValidNow(now time.Time) string {
	left := c.NotAfter.Sub(now)
	switch {
	case now.Before(c.NotBefore):
		return "not valid yet"
	case left <= 0:
		return "expired"
	case left < 48*time.Hour:
		return "in " + left.Round(time.Minute).String()
	}
	return fmt.Sprintf("in %d days", int(left.Hours()/24))
}
