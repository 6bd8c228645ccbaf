// Package mtls secures the connections between services by certificates that
// lie in files. A certificate names a stage of a trust domain as SPIFFE does,
// by the URI spiffe://TRUST-DOMAIN/STAGE; host names play no part.
package mtls

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
)

// Files are who a service is, and whom it believes. The zero value leaves
// connections plain. The files may be replaced while the service runs: they are
// looked at again when a connection is made.
type Files struct {
	// CertFile is the service's certificate, PEM, followed by those between it
	// and an authority. {stage} stands for the service's name, so that one
	// setting serves all services of a machine.
	CertFile string `koanf:"cert_file" help:"certificate of the service, PEM; {stage} stands for its name; empty for plain connections"`
	// KeyFile is its private key, PEM.
	KeyFile string `koanf:"key_file" help:"private key of the certificate, PEM"`
	// CAFile holds the authorities whose certificates are believed, PEM. While
	// one authority takes over from another, it holds both.
	CAFile string `koanf:"ca_file" help:"certificates of the authorities that are believed, PEM, one or several"`
	// TrustDomain is what every identity must be of; empty takes that of the
	// service's own certificate.
	TrustDomain string `koanf:"trust_domain" help:"trust domain of all identities; empty for that of the own certificate"`
}

// Enabled says that connections are to be secured.
func (f Files) Enabled() bool { return f != Files{} }

// Validate says which setting is missing.
func (f Files) Validate() error {
	if !f.Enabled() {
		return nil
	}
	var errs []error
	for _, file := range []struct{ key, value string }{{"cert_file", f.CertFile}, {"key_file", f.KeyFile}, {"ca_file", f.CAFile}} {
		if file.value == "" {
			errs = append(errs, fmt.Errorf("%s is empty: connections are secured with cert_file, key_file and ca_file, or with none of them", file.key))
		}
	}
	if _, err := f.trustDomain(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// of puts the name of a service in its place.
func (f Files) of(service string) Files {
	for _, path := range []*string{&f.CertFile, &f.KeyFile, &f.CAFile} {
		*path = strings.ReplaceAll(*path, "{stage}", service)
	}
	return f
}

// trustDomain is the one that is configured; zero where none is.
func (f Files) trustDomain() (spiffeid.TrustDomain, error) {
	if f.TrustDomain == "" {
		return spiffeid.TrustDomain{}, nil
	}
	td, err := ParseTrustDomain(f.TrustDomain)
	if err != nil {
		return td, fmt.Errorf("trust_domain: %w", err)
	}
	return td, nil
}

// ParseTrustDomain reads a trust domain, such as triplemesh.local.
func ParseTrustDomain(name string) (spiffeid.TrustDomain, error) {
	td, err := spiffeid.TrustDomainFromString(name)
	if err != nil || td.Name() != name {
		return td, fmt.Errorf("%q is no trust domain: want lower-case letters, digits, dots, dashes and underscores, such as triplemesh.local", name)
	}
	return td, nil
}

// StageOf is the stage that an identity names.
func StageOf(id spiffeid.ID) string { return strings.TrimPrefix(id.Path(), "/") }
