package auth

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// Token is one static token as a file holds it: all but the token itself.
type Token struct {
	// Name is the caller's, unique in the file.
	Name string `yaml:"name" json:"name"`
	// Tenant is whose data the token lets its bearer see.
	Tenant string `yaml:"tenant" json:"tenant"`
	// Scopes are of ScopeNames.
	Scopes []string `yaml:"scopes,flow" json:"scopes"`
	// SHA256 is the token's hash in hexadecimal. A token has 256 random bits, so
	// that nobody finds it by trying: the slow, salted hashes that guessable
	// passwords need would only make each request slow.
	SHA256 string `yaml:"sha256" json:"-"`
	// Expires is when the token ends to count; zero for never.
	Expires time.Time `yaml:"expires,omitempty" json:"expires,omitzero"`
}

// Tokens are the static tokens of a file.
type Tokens struct {
	Tokens []Token `yaml:"tokens"`
}

// tokenPrefix tells our tokens from others', for whoever finds one in a place
// where it should not be.
const tokenPrefix = "tm_"

// NewToken makes a token of 256 random bits. It is what its bearer gets; a file
// holds its Hash.
func NewToken() string {
	var bits [32]byte
	// It never fails: the program ends first.
	_, _ = rand.Read(bits[:])
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(bits[:])
}

// Hash is a token's SHA-256 as a file of tokens holds it.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// ParseTokens reads a file of tokens. The error names the entry that is wrong.
func ParseTokens(data []byte) (Tokens, error) {
	var t Tokens
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&t); err != nil && !errors.Is(err, io.EOF) {
		return Tokens{}, fmt.Errorf("want tokens: a list of name, tenant, scopes, sha256 and expires: %w", err)
	}
	names, hashes := map[string]bool{}, map[string]bool{}
	for i, token := range t.Tokens {
		err := token.validate()
		switch {
		case err == nil && names[token.Name]:
			err = errors.New("the name stands there a second time")
		case err == nil && hashes[token.SHA256]:
			err = errors.New("the token stands there a second time")
		}
		if err != nil {
			return Tokens{}, fmt.Errorf("tokens[%d] %q: %w", i, token.Name, err)
		}
		names[token.Name], hashes[token.SHA256] = true, true
	}
	return t, nil
}

func (t Token) validate() error {
	if !subject(t.Name) {
		return errors.New("name: want 1 to 255 printable characters")
	}
	if _, err := tenant.Parse(t.Tenant); err != nil {
		return err
	}
	if len(t.Scopes) == 0 {
		return fmt.Errorf("scopes: it has none: want some of %s", list(ScopeNames()))
	}
	for _, name := range t.Scopes {
		if _, err := ParseScope(name); err != nil {
			return err
		}
	}
	if sum, err := hex.DecodeString(t.SHA256); err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != t.SHA256 {
		return errors.New("sha256: want 64 digits of lower-case hexadecimal")
	}
	return nil
}

// Format writes a file of tokens as ParseTokens reads it.
func (t Tokens) Format() ([]byte, error) {
	if t.Tokens == nil {
		t.Tokens = []Token{}
	}
	var out bytes.Buffer
	out.WriteString("# Written by `triplemesh token`. No token is in here, only what one is known by.\n")
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(t), enc.Close())
	return out.Bytes(), err
}

// subject tells whether a caller's name can stand in logs.
func subject(name string) bool {
	return name != "" && len(name) <= 255 && name == strings.TrimSpace(name) && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
