package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/livefile"
	"github.com/triplemesh/triplemesh/internal/tenant"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

type hash = [sha256.Size]byte

// staticTokens are the tokens of a file by their hash. Looking a hash up takes
// a time that depends on the hash, of which nobody can choose what they would
// need to learn the token.
type staticTokens struct {
	file *livefile.File[map[hash]staticToken]
}

type staticToken struct {
	caller  Caller
	expires time.Time
}

func openTokens(path string, log *slog.Logger) (*staticTokens, error) {
	file, err := livefile.Open(path, byHash, log)
	if err != nil {
		return nil, fmt.Errorf("tokens_file: %w; `triplemesh token new --file %s` makes one", err, path)
	}
	return &staticTokens{file}, nil
}

func byHash(data []byte) (map[hash]staticToken, error) {
	parsed, err := ParseTokens(data)
	if err != nil {
		return nil, err
	}
	tokens := make(map[hash]staticToken, len(parsed.Tokens))
	for _, t := range parsed.Tokens {
		// ParseTokens has looked at all of these.
		id, _ := tenant.Parse(t.Tenant)
		sum, _ := hex.DecodeString(t.SHA256)
		tokens[hash(sum)] = staticToken{Caller{Tenant: id, Subject: t.Name, Scopes: parseScopes(t.Scopes)}, t.Expires}
	}
	return tokens, nil
}

func (s *staticTokens) caller(token string) (Caller, *Refusal) {
	t, ok := s.file.Get()[sha256.Sum256([]byte(token))]
	switch {
	case !ok:
		return Caller{}, unauthenticated(TokenInvalid, "nobody here has this token: it was mistyped, revoked or made for another mesh")
	case !t.expires.IsZero() && !time.Now().Before(t.expires):
		return Caller{}, unauthenticated(TokenExpired, "the token ended on %s: have a new one made with `triplemesh token new`", t.expires.UTC().Format(time.DateOnly))
	}
	return t.caller, nil
}

// minMeshToken is the least length of a shared secret in bytes: half of what
// NewToken makes, which nobody guesses either.
const minMeshToken = 22

// ParseMeshTokens reads the secrets by which stages know each other, one a
// line; empty lines and lines that begin with # do not count.
func ParseMeshTokens(data []byte) ([]string, error) {
	var tokens []string
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if len(line) < minMeshToken || len(line) > maxToken || !tokenCharacters(line) {
			return nil, fmt.Errorf("line %d: want a secret of %d or more letters, digits and -._~+/=, such as `openssl rand -hex 32` makes", n+1, minMeshToken)
		}
		tokens = append(tokens, line)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("it holds no secret: want one a line, such as `openssl rand -hex 32` makes")
	}
	return tokens, nil
}

// meshTokens are the secrets by which stages know each other, by their hash.
type meshTokens struct {
	file  *livefile.File[map[hash]bool] // nil for none
	given hash                          // of Config.MeshToken
	any   bool                          // one was given
}

func openMeshTokens(cfg Config, log *slog.Logger) (*meshTokens, error) {
	m := &meshTokens{}
	if cfg.MeshToken != "" {
		m.given, m.any = sha256.Sum256([]byte(cfg.MeshToken)), true
	}
	if cfg.MeshTokenFile == "" {
		return m, nil
	}
	var err error
	m.file, err = livefile.Open(cfg.MeshTokenFile, func(data []byte) (map[hash]bool, error) {
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

// meshSubject names a stage that is known by the shared secret alone, which
// does not say which one it is.
const meshSubject = "mesh"

func (m *meshTokens) caller(token string) (Caller, bool) {
	sum := sha256.Sum256([]byte(token))
	if m.any && sum == m.given || m.file != nil && m.file.Get()[sum] {
		return stage(meshSubject), true
	}
	return Caller{}, false
}

// stage is a stage of the mesh, for nobody as yet.
func stage(name string) Caller {
	return Caller{Subject: name, Scopes: []authv1.Scope{authv1.Scope_SCOPE_MESH}}
}
