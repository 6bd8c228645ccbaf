// Package asset reads the files that an encoder is made of.
package asset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
)

// Read reads a file; what says what it is to the encoder.
func Read(what, path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w; `triplemesh setup` fetches it", what, err)
	}
	return data, nil
}

// Fingerprint is a short sum of all that makes an encoder's vectors what they
// are. It is part of the encoder's name: vectors of other files do not mix.
func Fingerprint(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range parts {
		hash.Write(p)
	}
	return hex.EncodeToString(hash.Sum(nil))[:8]
}
