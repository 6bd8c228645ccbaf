package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// BenchmarkAdmit is what it costs to find out who calls, with nothing around it.
func BenchmarkAdmit(b *testing.B) {
	token, ec := NewToken(), newSigner(b, "ec")
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	i := &issuer{keys: []jose.JSONWebKey{ec.public(), {Key: rs.Public(), KeyID: "rs"}}}
	cfg := jwtConfig()
	cfg.TokensFile = writeTokens(b, Token{Name: "ci", Tenant: "acme", Scopes: []string{"ask"}, SHA256: Hash(token)})
	cfg.MeshToken = meshSecret
	on, off := open(b, cfg, i), open(b, DefaultConfig(), i)
	for _, c := range []struct {
		name          string
		gate          *Gate
		authorization string
		others        []string
		refused       bool
	}{
		{"no authentication", off, "", nil, false},
		{"static token", on, "Bearer " + token, nil, false},
		{"mesh token on behalf", on, "Bearer " + meshSecret, []string{TenantKey, "acme", SubjectKey, "ana"}, false},
		{"JWT by ES256", on, "Bearer " + ec.sign(b, nil), nil, false},
		{"JWT by RS256", on, "Bearer " + signed(b, jose.RS256, jose.JSONWebKey{Key: rs, KeyID: "rs"}, claims(nil)), nil,
			false},
		{"no token", on, "", nil, true},
		{"a wrong token", on, "Bearer " + NewToken(), nil, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			ctx := presenting(b.Context(), c.authorization, c.others...)
			b.ReportAllocs()
			for b.Loop() {
				if _, refusal := c.gate.Admit(ctx, askMethod); (refusal != nil) != c.refused {
					b.Fatal(refusal)
				}
			}
		})
	}
}
