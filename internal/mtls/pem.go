package mtls

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

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
