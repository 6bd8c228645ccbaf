package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"google.golang.org/grpc/codes"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

func TestSignedTokens(t *testing.T) {
	known, stranger := newSigner(t, "one"), newSigner(t, "one")
	i := &issuer{}
	i.publish(known, newSigner(t, "two"))
	g := open(t, jwtConfig(), i)
	now := time.Now()
	unsigned := func(header string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
			base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil,
				`{"iss":"https://issuer.test","aud":"triplemesh","sub":"ana","tenant":"acme","scope":"admin","exp":%d}`,
				now.Add(time.Hour).Unix())) + "."
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(known.sign(t, nil), ".")
	for _, c := range []struct {
		name, token, reason string
	}{
		{"a good token", known.sign(t, nil), ""},
		{"one with an audience as text", known.sign(t, map[string]any{"aud": "triplemesh"}), ""},
		{"one that was made by a clock a little ahead", known.sign(t,
			map[string]any{"iat": now.Add(10 * time.Second).Unix(), "nbf": now.Add(10 * time.Second).Unix()}), ""},
		{"one that ended within the leeway", known.sign(t, map[string]any{"exp": now.Add(-10 * time.Second).Unix()}),
			""},
		{"one without nbf and iat", known.sign(t, map[string]any{"nbf": nil, "iat": nil}), ""},
		{"one that has ended", known.sign(t, map[string]any{"exp": now.Add(-time.Minute).Unix()}), "TOKEN_EXPIRED"},
		{"one that never ends", known.sign(t, map[string]any{"exp": nil}), "TOKEN_INVALID"},
		{"one that does not count yet", known.sign(t, map[string]any{"nbf": now.Add(time.Hour).Unix()}),
			"TOKEN_NOT_YET_VALID"},
		{"one that was made in the future", known.sign(t, map[string]any{"iat": now.Add(time.Hour).Unix()}),
			"TOKEN_NOT_YET_VALID"},
		{"one for another audience", known.sign(t, map[string]any{"aud": []string{"mesh"}}), "WRONG_AUDIENCE"},
		{"one without an audience", known.sign(t, map[string]any{"aud": nil}), "WRONG_AUDIENCE"},
		{"one of another issuer", known.sign(t, map[string]any{"iss": "https://issuer.test/"}), "WRONG_ISSUER"},
		{"one without an issuer", known.sign(t, map[string]any{"iss": nil}), "WRONG_ISSUER"},
		{"one that names nobody", known.sign(t, map[string]any{"sub": nil}), "TOKEN_INVALID"},
		{"one whose subject would write into the log", known.sign(t, map[string]any{"sub": "ana\nadmin"}),
			"TOKEN_INVALID"},
		{"one without a tenant", known.sign(t, map[string]any{"tenant": nil}), "TENANT_MISSING"},
		{"one whose tenant is a path", known.sign(t, map[string]any{"tenant": "../acme"}), "TENANT_INVALID"},
		{"one whose tenant is empty", known.sign(t, map[string]any{"tenant": ""}), "TENANT_INVALID"},
		{"one of several tenants", known.sign(t, map[string]any{"tenant": []string{"acme", "globex"}}),
			"TENANT_INVALID"},
		{"one whose scopes are a number", known.sign(t, map[string]any{"scope": 7}), "SCOPE_MISSING"},
		{"one whose claims are wrong", known.sign(t, map[string]any{"exp": "soon"}), "TOKEN_INVALID"},
		{"one signed by another key of the same name", stranger.sign(t, nil), "TOKEN_INVALID"},
		{"one whose claims were changed", parts[0] + "." + strings.Split(stranger.sign(t,
			map[string]any{"tenant": "globex"}), ".")[1] + "." + parts[2], "TOKEN_INVALID"},
		{"one whose signature was cut off", parts[0] + "." + parts[1] + ".", "TOKEN_INVALID"},
		{"one that says it needs no signature", unsigned(`{"alg":"none"}`), "TOKEN_INVALID"},
		{"and in capitals", unsigned(`{"alg":"NONE","kid":"one"}`), "TOKEN_INVALID"},
		{"one signed by the public key as if it were a secret", signed(t, jose.HS256,
			jose.JSONWebKey{Key: secretOf(known.key.Public()), KeyID: "one"}, claims(nil)), "TOKEN_INVALID"},
		{"one signed in a way that is not allowed", signed(t, jose.RS512, jose.JSONWebKey{Key: rsaKey, KeyID: "one"},
			claims(nil)), "TOKEN_INVALID"},
		{"one signed in an allowed way that is not the key's",
			signed(t, jose.RS256, jose.JSONWebKey{Key: rsaKey, KeyID: "one"}, claims(nil)), "TOKEN_INVALID"},
		{"one that does not say which of two keys", signed(t, jose.ES256, known.key, claims(nil)), "TOKEN_INVALID"},
		{"garbage", "garbage.garbage.garbage", "TOKEN_INVALID"},
		{"dots alone", "..", "TOKEN_INVALID"},
		{"one without dots, which nobody keeps here", "tm_abcdefghijklmnopqrstuvwxyz", "TOKEN_INVALID"},
		{"a huge one", strings.Repeat("a", maxToken) + ".b.c", "TOKEN_INVALID"},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller, refusal := g.Admit(presenting(t.Context(), "Bearer "+c.token), askMethod)
			wantRefusal(t, refusal, c.reason, c.token)
			if refusal != nil {
				return
			}
			want := []authv1.Scope{authv1.Scope_SCOPE_ASK, authv1.Scope_SCOPE_KG_READ}
			if caller.Tenant.String() != "acme" || caller.Subject != "ana" || !slices.Equal(caller.Scopes, want) {
				t.Errorf("got %+v", caller)
			}
		})
	}
}

func TestScopesOfSignedTokens(t *testing.T) {
	key := newSigner(t, "one")
	i := &issuer{}
	i.publish(key)
	g := open(t, jwtConfig(), i)
	for _, c := range []struct {
		name           string
		scope          any
		method, reason string
	}{
		{"a scope in a text", "ask", askMethod, ""},
		{"a scope in a list", []string{"profile", "ask"}, askMethod, ""},
		{"another scope", "kg:read", askMethod, "SCOPE_MISSING"},
		{"no scope", nil, askMethod, "SCOPE_MISSING"},
		{"a scope that only begins like it", "asking", askMethod, "SCOPE_MISSING"},
		{"reading is not writing", "kg:read", dropMethod, "SCOPE_MISSING"},
		{"writing", "kg:write", dropMethod, ""},
		{"an admin", "admin", dropMethod, ""},
		{"an admin may call a stage by hand", "admin", planMethod, ""},
		{"nobody becomes a stage by a token", "mesh SCOPE_MESH", planMethod, "SCOPE_MISSING"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, refusal := g.Admit(presenting(t.Context(), "Bearer "+key.sign(t, map[string]any{"scope": c.scope})),
				c.method)
			wantRefusal(t, refusal, c.reason, "")
			if refusal != nil && refusal.Code != codes.PermissionDenied {
				t.Errorf("it is known who calls, and the code is %v", refusal.Code)
			}
		})
	}
}

func TestTheOnlyKeyNeedsNoName(t *testing.T) {
	key := newSigner(t, "one")
	i := &issuer{}
	i.publish(key)
	_, refusal := open(t, jwtConfig(), i).Admit(presenting(t.Context(), "Bearer "+signed(t, jose.ES256, key.key,
		claims(nil))), askMethod)
	wantRefusal(t, refusal, "", "")
}

func TestARememberedTokenIsLookedAtAgain(t *testing.T) {
	one, two := newSigner(t, "one"), newSigner(t, "one")
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{}
		i.publish(one)
		cfg := jwtConfig()
		cfg.JWT.Refresh = time.Minute
		g := open(t, cfg, i)
		token := one.sign(t, map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
		other := one.sign(t, map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix()})
		for _, step := range []struct {
			name, token string
			wait        time.Duration
			want        string
		}{
			{"it counts", token, 0, ""},
			{"again", token, time.Minute, ""},
			{"until it ends", token, 2 * time.Hour, "TOKEN_EXPIRED"},
			{"another that counts", other, time.Second, ""},
		} {
			time.Sleep(step.wait)
			if got := admit(t, g, step.token); got != step.want {
				t.Errorf("%s: got %q, want %q", step.name, got, step.want)
			}
			synctest.Wait()
		}
		// A key of the same name takes the place of the one it was signed by.
		i.publish(two)
		time.Sleep(2 * time.Minute)
		admit(t, g, other) // has the keys fetched
		synctest.Wait()
		if got := admit(t, g, other); got != "TOKEN_INVALID" {
			t.Errorf("signed by a key that was replaced: got %q", got)
		}
	})
}
