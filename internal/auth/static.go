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
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/config"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

type hash = [sha256.Size]byte

// staticTokens are the tokens of a file by their hash. The lookup is not in constant time, which is
// safe as callers cannot choose the hash of a token.
type staticTokens struct {
	file *config.LiveFile[map[hash]staticToken]
}

type staticToken struct {
	caller  Caller
	expires time.Time
}

func openTokens(path string, log *slog.Logger) (*staticTokens, error) {
	file, err := config.OpenLiveFile(path, indexByHash, log)
	if err != nil {
		return nil, fmt.Errorf("tokens_file: %w; `triplemesh token new --file %s` makes one", err, path)
	}
	return &staticTokens{file}, nil
}

func indexByHash(data []byte) (map[hash]staticToken, error) {
	parsed, err := ParseTokens(data)
	if err != nil {
		return nil, err
	}
	tokens := make(map[hash]staticToken, len(parsed.Tokens))
	for _, t := range parsed.Tokens {
		// ParseTokens has validated all of these.
		id, _ := ParseTenant(t.Tenant)
		sum, _ := hex.DecodeString(t.SHA256)
		tokens[hash(sum)] = staticToken{Caller{Tenant: id, Subject: t.Name, Scopes: parseScopes(t.Scopes)}, t.Expires}
	}
	return tokens, nil
}

func (s *staticTokens) caller(token string) (Caller, *Refusal) {
	t, ok := s.file.Get()[sha256.Sum256([]byte(token))]
	switch {
	case !ok:
		return Caller{}, unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"unknown token: it was mistyped, revoked or made for another mesh")
	case !t.expires.IsZero() && !time.Now().Before(t.expires):
		return Caller{}, unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_EXPIRED,
			"the token expired on %s: get a new one made with `triplemesh "+
				"token new`", t.expires.UTC().Format(time.DateOnly))
	}
	return t.caller, nil
}

// minMeshToken is the least length of a shared secret in bytes, 128 random bits in base64.
const minMeshToken = 22

// ParseMeshTokens parses the shared secrets of the stages, one per line; empty lines and lines that
// begin with # are skipped.
func ParseMeshTokens(data []byte) ([]string, error) {
	var tokens []string
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if len(line) < minMeshToken || len(line) > maxToken || !tokenCharacters(line) {
			return nil, fmt.Errorf("line %d: want a secret of %d or more letters, digits and -._~+/=, such as "+
				"`openssl rand -hex 32` makes", n+1, minMeshToken)
		}
		tokens = append(tokens, line)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("it holds no secret: want one a line, such as `openssl rand -hex 32` makes")
	}
	return tokens, nil
}

// meshTokens are the shared secrets of the stages, by their hash.
type meshTokens struct {
	file      *config.LiveFile[map[hash]bool] // nil for none
	inProcess *hash                           // of Config.MeshToken; nil for none
}

func openMeshTokens(cfg Config, log *slog.Logger) (*meshTokens, error) {
	m := &meshTokens{}
	if cfg.MeshToken != "" {
		sum := sha256.Sum256([]byte(cfg.MeshToken))
		m.inProcess = &sum
	}
	if cfg.MeshTokenFile == "" {
		return m, nil
	}
	var err error
	m.file, err = config.OpenLiveFile(cfg.MeshTokenFile, func(data []byte) (map[hash]bool, error) {
		tokens, err := ParseMeshTokens(data)
		hashes := map[hash]bool{}
		for _, t := range tokens {
			hashes[sha256.Sum256([]byte(t))] = true
		}
		return hashes, err
	}, log)
	if err != nil {
		return nil, fmt.Errorf("mesh_token_file: %w", err)
	}
	return m, nil
}

// meshSubject is the subject of a stage that authenticates by the shared secret, which does not say
// which stage it is.
const meshSubject = "mesh"

func (m *meshTokens) caller(token string) (Caller, bool) {
	sum := sha256.Sum256([]byte(token))
	if m.inProcess != nil && sum == *m.inProcess || m.file != nil && m.file.Get()[sum] {
		return stageCaller(meshSubject), true
	}
	return Caller{}, false
}

// stageCaller returns a stage of the mesh, without a tenant.
func stageCaller(name string) Caller {
	return Caller{Subject: name, Scopes: []authv1.Scope{authv1.Scope_SCOPE_MESH}}
}

// maxToken bounds a token in bytes. JWTs of large organisations have 2 to 4 KiB.
const maxToken = 8 << 10

// parseBearer returns the token in the values of the header "authorization". A refusal never
// contains what was sent.
func parseBearer(values []string) (token string, refusal *Refusal) {
	const want = "want one header authorization: Bearer TOKEN"
	switch len(values) {
	case 0:
		return "", unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_MISSING,
			"callers must say who they are; send a token: the header authorization: Bearer TOKEN, --token-file FILE "+
				"or TRIPLEMESH_TOKEN (`triplemesh token new` makes one, if you run this mesh)")
	case 1:
	default:
		return "", unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"there are %d authorization headers: %s", len(values), want)
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"the authorization header is no bearer token: %s", want)
	}
	token = strings.Trim(token, " ")
	if len(token) > maxToken {
		return "", unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"the token has %d bytes: at most %d are looked at",
			len(token), maxToken)
	}
	if token == "" || !tokenCharacters(token) {
		return "", unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"the authorization header holds no token: %s", want)
	}
	return token, nil
}

// tokenCharacters reports whether a text has only characters of RFC 6750's b64token.
func tokenCharacters(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("-._~+/=", r))
	})
}

// ParseToken returns the token in a file: its first line that is neither empty nor begins with #.
func ParseToken(data []byte) (string, error) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if len(line) > maxToken || !tokenCharacters(line) {
			return "", fmt.Errorf("its first line is no token: want up to %d letters, digits and -._~+/=", maxToken)
		}
		return line, nil
	}
	return "", errors.New("it holds no token: want one in its first line")
}

// Token is the entry of a static token in a file, without the token itself.
type Token struct {
	// Name is the caller's subject, unique in the file.
	Name string `yaml:"name" json:"name"`
	// Tenant owns the data that the caller sees.
	Tenant string `yaml:"tenant" json:"tenant"`
	// Scopes are from ScopeNames.
	Scopes []string `yaml:"scopes,flow" json:"scopes"`
	// SHA256 is the token's hash in hexadecimal. A token has 256 random bits, so it does not need the
	// slow, salted hash of a guessable password.
	SHA256 string `yaml:"sha256" json:"-"`
	// Expires is zero for a token that does not expire.
	Expires time.Time `yaml:"expires,omitempty" json:"expires,omitzero"`
}

// Tokens are the static tokens of a file.
type Tokens struct {
	Tokens []Token `yaml:"tokens"`
}

// tokenPrefix lets secret scanners recognise a leaked token.
const tokenPrefix = "tm_"

// NewToken returns a token of 256 random bits for a caller. The tokens file has its Hash.
func NewToken() string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(bits[:])
}

// Hash returns a token's SHA-256 as in a tokens file.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// ParseTokens parses a tokens file. The error names the wrong entry.
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
			err = errors.New("duplicate name")
		case err == nil && hashes[token.SHA256]:
			err = errors.New("duplicate token")
		}
		if err != nil {
			return Tokens{}, fmt.Errorf("tokens[%d] %q: %w", i, token.Name, err)
		}
		names[token.Name], hashes[token.SHA256] = true, true
	}
	return t, nil
}

func (t Token) validate() error {
	if !isValidSubject(t.Name) {
		return errors.New("name: want 1 to 255 printable characters")
	}
	if _, err := ParseTenant(t.Tenant); err != nil {
		return err
	}
	if len(t.Scopes) == 0 {
		return fmt.Errorf("scopes is empty: want some of %s", joinNames(ScopeNames()))
	}
	for _, name := range t.Scopes {
		if _, err := ParseScope(name); err != nil {
			return err
		}
	}
	if sum, err := hex.DecodeString(t.SHA256); err != nil || len(sum) != sha256.Size ||
		hex.EncodeToString(sum) != t.SHA256 {
		return errors.New("sha256: want 64 digits of lower-case hexadecimal")
	}
	return nil
}

// Format returns the tokens file that ParseTokens parses.
func (t Tokens) Format() ([]byte, error) {
	if t.Tokens == nil {
		t.Tokens = []Token{}
	}
	var out bytes.Buffer
	out.WriteString("# Written by `triplemesh token`. It contains the hashes of tokens, not the tokens.\n")
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(t), enc.Close())
	return out.Bytes(), err
}

// isValidSubject reports whether a caller's name can be logged.
func isValidSubject(name string) bool {
	return name != "" && len(name) <= 255 && name == strings.TrimSpace(name) && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
