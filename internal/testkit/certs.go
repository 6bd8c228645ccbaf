package testkit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/mtls"
)

// Certs is a directory of certificates, laid out as `triplemesh certs` does.
type Certs struct {
	tb  testing.TB
	Dir string
	// Authorities are those that are believed; the first issues.
	Authorities []*mtls.Authority
}

// NewCerts makes an authority of the trust domain triplemesh.test, and
// certificates for the stages. Their keys are gone with the test.
func NewCerts(tb testing.TB, stages ...string) *Certs {
	tb.Helper()
	c := &Certs{tb: tb, Dir: tb.TempDir()}
	c.NewAuthority("triplemesh.test")
	for _, stage := range stages {
		c.Issue(mtls.CertificateRequest{Stage: stage})
	}
	return c
}

// NewAuthority makes another authority, which issues from then on. Nobody
// believes it before Believe.
func (c *Certs) NewAuthority(trustDomain string) {
	c.tb.Helper()
	a, _, err := mtls.NewAuthority(trustDomain)
	if err != nil {
		c.tb.Fatalf("make an authority: %v", err)
	}
	c.Authorities = append([]*mtls.Authority{a}, c.Authorities...)
}

// Issue makes a certificate, valid for an hour where nothing else is asked for,
// and replaces its stage's files in the order of a renewal: the key first, one
// file at a time.
func (c *Certs) Issue(r mtls.CertificateRequest) {
	c.tb.Helper()
	if r.To.IsZero() {
		r.To = time.Now().Add(time.Hour)
	}
	pair, err := c.Authorities[0].Issue(r)
	if err == nil {
		err = os.MkdirAll(filepath.Join(c.Dir, r.Stage), 0o700)
	}
	if err != nil {
		c.tb.Fatalf("issue the certificate of %s: %v", r.Stage, err)
	}
	c.Write(filepath.Join(r.Stage, "tls.key"), pair.Key)
	c.Write(filepath.Join(r.Stage, "tls.crt"), pair.Cert)
	if _, err := os.Stat(filepath.Join(c.Dir, r.Stage, "ca.crt")); errors.Is(err, os.ErrNotExist) {
		c.Believe(r.Stage, c.Authorities...)
	}
}

// Believe says which authorities a stage believes.
func (c *Certs) Believe(stage string, authorities ...*mtls.Authority) {
	c.tb.Helper()
	var bundle []byte
	for _, a := range authorities {
		bundle = append(bundle, a.Cert()...)
	}
	c.Write(filepath.Join(stage, "ca.crt"), bundle)
}

// Write replaces a file of the directory as a whole.
func (c *Certs) Write(name string, data []byte) {
	c.tb.Helper()
	path := filepath.Join(c.Dir, name)
	if err := errors.Join(os.WriteFile(path+".new", data, 0o600), os.Rename(path+".new", path)); err != nil {
		c.tb.Fatalf("put %s: %v", name, err)
	}
}

// Files are the files of every stage, by one setting.
func (c *Certs) Files() mtls.Files {
	in := func(name string) string { return filepath.Join(c.Dir, "{stage}", name) }
	return mtls.Files{CertFile: in("tls.crt"), KeyFile: in("tls.key"), CAFile: in("ca.crt")}
}

// Settings are the same for a configuration.
func (c *Certs) Settings() map[string]string {
	f := c.Files()
	return map[string]string{"server.tls.cert_file": f.CertFile, "server.tls.key_file": f.KeyFile,
		"server.tls.ca_file": f.CAFile}
}
