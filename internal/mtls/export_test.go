package mtls

import "crypto/x509"

// Look is what a handshake would go by: the certificate, and how many
// authorities are believed.
func Look(s *Source) (*x509.Certificate, int) {
	m := s.current()
	return m.certificate.Leaf, len(m.authorities.X509Authorities())
}
