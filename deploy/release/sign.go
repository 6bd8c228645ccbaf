package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// signingKey signs as cosign does: ECDSA over SHA-256, in base64.
type signingKey struct{ *ecdsa.PrivateKey }

// readKey reads a private key: one of `cosign generate-key-pair`, which the password decrypts, or an EC
// key in PEM.
func readKey(file, password string) (signingKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return signingKey{}, fmt.Errorf("read the signing key: %w", err)
	}
	key, err := parseKey(text, password)
	if err != nil {
		return signingKey{}, fmt.Errorf("read the signing key %s: %w", file, err)
	}
	return key, nil
}

func parseKey(text []byte, password string) (signingKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return signingKey{}, errors.New("no PEM block; give the private key of cosign generate-key-pair")
	}
	der := block.Bytes
	if strings.HasPrefix(block.Type, "ENCRYPTED ") { // ENCRYPTED SIGSTORE or ENCRYPTED COSIGN PRIVATE KEY
		var err error
		if der, err = encrypted.Decrypt(der, []byte(password)); err != nil {
			return signingKey{}, fmt.Errorf("%w; set COSIGN_PASSWORD to its password", err)
		}
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return signingKey{key}, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return signingKey{}, err
	}
	switch key := parsed.(type) {
	case *ecdsa.PrivateKey:
		return signingKey{key}, nil
	case ed25519.PrivateKey:
		return signingKey{}, errors.New("an Ed25519 key; cosign makes ECDSA keys (P-256)")
	default:
		return signingKey{}, fmt.Errorf("a %T; cosign makes ECDSA keys (P-256)", key)
	}
}

// sign returns the signature that `cosign verify-blob --signature` takes.
func (k signingKey) sign(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	signature, err := k.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return base64.StdEncoding.EncodeToString(signature), nil
}
