package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/server"
)

// BenchmarkCallers is one small call over loopback, by how the caller says who
// they are. The difference to "no authentication" is the cost.
func BenchmarkCallers(b *testing.B) {
	k := newKeepers(b)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: ec.Public(), KeyID: "ec"}, {Key: rs.Public(), KeyID: "rs"},
	}})
	if err != nil {
		b.Fatal(err)
	}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(keys)
	}))
	defer issuer.Close()
	k.config.JWT.Issuer, k.config.JWT.Audience, k.config.JWT.JWKSURL = "https://issuer.test", "triplemesh", issuer.URL
	sign := func(algorithm jose.SignatureAlgorithm, id string, key any) string {
		s, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
		if err != nil {
			b.Fatal(err)
		}
		token, err := jwt.Signed(s).Claims(map[string]any{
			"iss": "https://issuer.test", "aud": "triplemesh", "sub": "ana", "tenant": "acme", "scope": "admin",
			"exp": time.Now().Add(time.Hour).Unix(),
		}).Serialize()
		if err != nil {
			b.Fatal(err)
		}
		return token
	}
	for _, c := range []struct {
		name, token string
		set         func(*server.Config)
		refused     bool
	}{
		{"no authentication", "", func(*server.Config) {}, false},
		{"static token", k.admin, k.enable, false},
		{"mesh token", meshSecret, k.enable, false},
		{"JWT by ES256", sign(jose.ES256, "ec", ec), k.enable, false},
		{"JWT by RS256", sign(jose.RS256, "rs", rs), k.enable, false},
		{"refused", auth.NewToken(), k.enable, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := start(b, "reflector", answering(echo), c.set,
				func(cfg *server.Config) { cfg.MaxConnectionAge = time.Hour })
			ctx := b.Context()
			if c.token != "" {
				ctx = withToken(ctx, c.token)
			}
			for b.Loop() {
				if _, err := r.reflect(ctx, "why"); (err != nil) != c.refused {
					b.Fatal(err)
				}
			}
		})
	}
}
