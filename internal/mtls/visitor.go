package mtls

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
	"google.golang.org/grpc/credentials"
)

// Visitor is a caller from outside the mesh, such as a person's command line.
// It may have no certificate, and may be led in through a gateway.
type Visitor struct {
	// CAFile holds the authorities that are believed, PEM; empty for those that
	// the machine believes.
	CAFile string
	// CertFile and KeyFile are the visitor's own certificate, or both empty.
	CertFile, KeyFile string
}

// Credentials secure the visitor's connections to a stage. The server must show that stage's
// certificate of one of the authorities; or, as gateways do, one with no identity of a mesh that is
// valid for the host which was dialled. The files are read at every handshake, and once here, so
// that what is wrong with them is said at once.
func (v Visitor) Credentials(stage string) (credentials.TransportCredentials, error) {
	if _, err := v.roots(); err != nil {
		return nil, err
	}
	if _, err := v.certificate(); err != nil {
		return nil, err
	}
	return newClient(func(host string) *tls.Config {
		return &tls.Config{
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return v.certificate()
			},
			VerifyConnection: func(state tls.ConnectionState) error {
				return v.verify(state.PeerCertificates, stage, host, time.Now())
			},
		}
	}), nil
}

// certificate is the visitor's own, or an empty one, which shows none.
func (v Visitor) certificate() (*tls.Certificate, error) {
	if v.CertFile == "" && v.KeyFile == "" {
		return &tls.Certificate{}, nil
	}
	if v.CertFile == "" || v.KeyFile == "" {
		return nil, errors.New("a certificate and its key go together: name both files")
	}
	pair, err := tls.LoadX509KeyPair(v.CertFile, v.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", v.CertFile, v.KeyFile, err)
	}
	return &pair, nil
}

// roots are the authorities of CAFile; none for those of the machine.
func (v Visitor) roots() ([]*x509.Certificate, error) {
	if v.CAFile == "" {
		return nil, nil
	}
	data, err := os.ReadFile(v.CAFile)
	if err != nil {
		return nil, err
	}
	return ParseCertificates(v.CAFile, data)
}

func (v Visitor) verify(chain []*x509.Certificate, stage, host string, now time.Time) error {
	if len(chain) == 0 {
		return errors.New("the server showed no certificate")
	}
	roots, err := v.roots()
	if err != nil {
		return err
	}
	if id, err := x509svid.IDFromCert(chain[0]); err == nil && roots != nil {
		authorities := x509bundle.FromX509Authorities(id.TrustDomain(), roots)
		if _, _, err := x509svid.Verify(chain, authorities, x509svid.WithTime(now)); err != nil {
			return refusedError(chain[0], explain(err, now))
		}
		return checkStage(stage, StageOf(id), chain[0])
	}
	options := x509.VerifyOptions{DNSName: host, CurrentTime: now, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	if roots != nil {
		options.Roots = x509.NewCertPool()
		for _, c := range roots {
			options.Roots.AddCert(c)
		}
	}
	if _, err := chain[0].Verify(options); err != nil {
		return refusedError(chain[0], explain(err, now))
	}
	return nil
}

// Visitor calls with the files of a stage, as somebody can who may read them.
func (f Files) Visitor(stage string) Visitor {
	f = f.forService(stage)
	return Visitor{CAFile: f.CAFile, CertFile: f.CertFile, KeyFile: f.KeyFile}
}
