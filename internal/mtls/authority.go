package mtls

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

// life is how long an authority is believed.
const life = 10 * 365 * 24 * time.Hour

// skew is by how much the clocks of two machines may differ: certificates are
// valid that long before they are made.
const skew = 5 * time.Minute

// KeyPair is a certificate and its private key, both PEM.
type KeyPair struct{ Cert, Key []byte }

// Authority is a small certificate authority for the trust domain of one mesh, for those who have no
// other. It keeps no list of what it issued and revokes nothing: certificates are short-lived instead.
type Authority struct {
	cert *x509.Certificate
	key  any
	td   spiffeid.TrustDomain
	pem  []byte
}

// NewAuthority makes an authority of a trust domain, such as triplemesh.local.
func NewAuthority(trustDomain string) (*Authority, KeyPair, error) {
	td, err := ParseTrustDomain(trustDomain)
	if err != nil {
		return nil, KeyPair{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"triplemesh"}, CommonName: "authority of " + td.Name()},
		URIs:                  []*url.URL{td.ID().URL()},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(life),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	pair, err := issueCertificate(template, template, nil)
	if err != nil {
		return nil, KeyPair{}, err
	}
	a, err := ParseAuthority(pair)
	return a, pair, err
}

// ParseAuthority takes up an authority that New made.
func ParseAuthority(pair KeyPair) (*Authority, error) {
	both, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, err
	}
	id, err := x509svid.IDFromCert(both.Leaf)
	if err != nil || !both.Leaf.IsCA || id.Path() != "" {
		return nil, errors.New("it is not the certificate of an authority with a trust domain")
	}
	return &Authority{cert: both.Leaf, key: both.PrivateKey, td: id.TrustDomain(), pem: pair.Cert}, nil
}

// Cert is the authority's certificate, PEM: what goes into ca_file.
func (a *Authority) Cert() []byte { return a.pem }

// CertificateRequest says what a certificate is to be good for.
type CertificateRequest struct {
	// Stage is whom it names.
	Stage string
	// Hosts are names and IP addresses under which clients that go by host names
	// reach the server, such as gateways and grpcurl.
	Hosts []string
	// From and To are when it is valid. The zero From is some minutes ago.
	From, To time.Time
}

// Issue makes a certificate and a key of its own.
func (a *Authority) Issue(r CertificateRequest) (KeyPair, error) {
	id, err := spiffeid.FromSegments(a.td, r.Stage)
	if err != nil {
		return KeyPair{}, fmt.Errorf("%q cannot be the name of a stage: want letters, digits, dots, dashes and "+
			"underscores", r.Stage)
	}
	if r.From.IsZero() {
		r.From = time.Now().Add(-skew)
	}
	if !r.To.After(r.From) {
		return KeyPair{}, fmt.Errorf("a certificate from %s to %s would never be valid", r.From.Format(time.RFC3339),
			r.To.Format(time.RFC3339))
	}
	if r.To.After(a.cert.NotAfter) {
		r.To = a.cert.NotAfter
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"triplemesh"}, CommonName: r.Stage},
		URIs:                  []*url.URL{id.URL()},
		NotBefore:             r.From,
		NotAfter:              r.To,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
	for _, host := range r.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return issueCertificate(template, a.cert, a.key)
}

// issueCertificate makes a key and signs its certificate by another; by itself where
// parentKey is nil.
func issueCertificate(template, parent *x509.Certificate, parentKey any) (KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, err
	}
	if parentKey == nil {
		parentKey = key
	}
	// The serial number is made by the library, at random.
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return KeyPair{}, fmt.Errorf("sign the certificate of %s: %w", Holder(template), err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return KeyPair{}, err
	}
	return KeyPair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
	}, nil
}

// FirstCertificate is the first certificate of a PEM file, PEM: of those that a mesh
// believes, the authority that issues.
func FirstCertificate(data []byte) ([]byte, error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return pem.EncodeToMemory(block), nil
		}
	}
	return nil, errors.New("no certificate in it")
}
