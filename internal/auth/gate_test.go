package auth

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

const meshSecret = "0123456789abcdef0123456789abcdef"

// writeTokens puts a file of tokens into a directory of the test's.
func writeTokens(t testing.TB, tokens ...Token) string {
	t.Helper()
	data, err := Tokens{tokens}.Format()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func secretFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mesh")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gate(t testing.TB, cfg Config, peer Peer) *Gate {
	t.Helper()
	g, err := NewGate(cfg, peer, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestWhoIsLetIn(t *testing.T) {
	token, old, admin := NewToken(), NewToken(), NewToken()
	cfg := DefaultConfig()
	cfg.TokensFile = writeTokens(t,
		Token{Name: "ci", Tenant: "acme", Scopes: []string{"ask", "kg:read"}, SHA256: Hash(token)},
		Token{Name: "gone", Tenant: "acme", Scopes: []string{"ask"}, SHA256: Hash(old),
			Expires: time.Now().Add(-time.Hour)},
		Token{Name: "root", Tenant: "acme", Scopes: []string{"admin"}, SHA256: Hash(admin)},
	)
	cfg.MeshTokenFile = secretFile(t, "# the next one, then this one\n"+strings.Repeat("n", 40)+"\n\n  "+
		meshSecret+"\n")
	cfg.MeshToken = "of this process, and of no other one"
	type stageKey struct{}
	g := gate(t, cfg, func(ctx context.Context) (string, bool) {
		name, ok := ctx.Value(stageKey{}).(string)
		return name, ok
	})
	const health, reflect = "/grpc.health.v1.Health/Check", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	acme := []string{TenantKey, "acme", SubjectKey, "ana"}
	for _, c := range []struct {
		name          string
		authorization string
		stage         string // of a certificate
		others        []string
		method        string
		reason        string
		want          Caller
	}{
		{name: "nobody", method: askMethod, reason: "TOKEN_MISSING"},
		{name: "nobody, for their health", method: health},
		{name: "nobody, by reflection", method: reflect, reason: "TOKEN_MISSING"},
		{name: "a token, by reflection", authorization: "Bearer " + token, method: reflect,
			want: Caller{Subject: "ci"}},
		{name: "a token", authorization: "Bearer " + token, method: askMethod, want: Caller{Subject: "ci"}},
		{name: "a token with the scheme in small letters", authorization: "bearer " + token, method: askMethod,
			want: Caller{Subject: "ci"}},
		{name: "a token for what it is not for", authorization: "Bearer " + token, method: dropMethod,
			reason: "SCOPE_MISSING", want: Caller{Subject: "ci"}},
		{name: "a token, for a stage", authorization: "Bearer " + token, method: planMethod, reason: "SCOPE_MISSING",
			want: Caller{Subject: "ci"}},
		{name: "a token, for a method that nobody declared", authorization: "Bearer " + admin,
			method: "/some.Service/Method", reason: "SCOPE_UNDECLARED", want: Caller{Subject: "root"}},
		{name: "a token that has ended", authorization: "Bearer " + old, method: askMethod, reason: "TOKEN_EXPIRED"},
		{name: "a token that nobody has", authorization: "Bearer " + NewToken(), method: askMethod,
			reason: "TOKEN_INVALID"},
		{name: "a token's hash", authorization: "Bearer " + Hash(token), method: askMethod, reason: "TOKEN_INVALID"},
		{name: "a JWT where none count", authorization: "Bearer a.b.c", method: askMethod, reason: "TOKEN_INVALID"},
		{name: "a token that names its own tenant", authorization: "Bearer " + token, others: acme, method: askMethod,
			reason: "TENANT_NOT_YOURS", want: Caller{Subject: "ci"}},
		{name: "an admin who names another tenant", authorization: "Bearer " + admin, others: []string{TenantKey,
			"globex"}, method: askMethod, reason: "TENANT_NOT_YOURS", want: Caller{Subject: "root"}},
		{name: "a token that names somebody", authorization: "Bearer " + token, others: []string{SubjectKey, "eve"},
			method: askMethod, reason: "TENANT_NOT_YOURS", want: Caller{Subject: "ci"}},
		{name: "nobody who names a tenant", others: acme, method: askMethod, reason: "TOKEN_MISSING"},
		{name: "a stage by its certificate, for somebody", stage: "orchestrator", others: acme, method: listMethod,
			want: Caller{Subject: "ana", Via: "orchestrator"}},
		{name: "a stage by the second secret, for somebody", authorization: "Bearer " + meshSecret, others: acme,
			method: planMethod, want: Caller{Subject: "ana", Via: meshSubject}},
		{name: "a stage by the secret of the process", authorization: "Bearer " + strings.ReplaceAll(cfg.MeshToken, " ",
			"_"), method: planMethod, reason: "TOKEN_INVALID"},
		{name: "a stage for a tenant alone", stage: "orchestrator", others: acme[:2], method: listMethod,
			want: Caller{Via: "orchestrator"}},
		{name: "a stage for nobody", stage: "orchestrator", method: planMethod, want: Caller{Subject: "orchestrator"}},
		{name: "a stage for nobody, where a tenant's data is", stage: "orchestrator", method: listMethod,
			reason: "TENANT_MISSING", want: Caller{Subject: "orchestrator"}},
		{name: "a stage for somebody of no tenant, where a tenant's data is", stage: "orchestrator", others: acme[2:],
			method: listMethod, reason: "TENANT_MISSING", want: Caller{Subject: "ana", Via: "orchestrator"}},
		{name: "a stage for a tenant that is none", stage: "orchestrator", others: []string{TenantKey, "../acme"},
			method: listMethod, reason: "TENANT_INVALID", want: Caller{Subject: "orchestrator"}},
		{name: "a stage for two tenants", stage: "orchestrator", others: []string{TenantKey, "acme", TenantKey,
			"globex"}, method: listMethod, reason: "TENANT_INVALID", want: Caller{Subject: "orchestrator"}},
		{name: "a stage for somebody who would write into the log", stage: "orchestrator",
			others: []string{TenantKey, "acme", SubjectKey, "ana%0Aadmin"}, method: listMethod,
			reason: "TENANT_INVALID",
			want:   Caller{Subject: "orchestrator"}},
		{name: "a stage that passes a token on is who the token is", stage: "orchestrator", authorization: "Bearer " +
			token, method: dropMethod, reason: "SCOPE_MISSING", want: Caller{Subject: "ci"}},
		{name: "and may name nobody", stage: "orchestrator", authorization: "Bearer " + token, others: acme,
			method: listMethod, reason: "TENANT_NOT_YOURS", want: Caller{Subject: "ci"}},
		{name: "a stage with a wrong token", stage: "orchestrator", authorization: "Bearer wrong", method: planMethod,
			reason: "TOKEN_INVALID"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := presenting(t.Context(), c.authorization, c.others...)
			if c.stage != "" {
				ctx = context.WithValue(ctx, stageKey{}, c.stage)
			}
			got, refusal := g.Admit(ctx, c.method)
			wantRefusal(t, refusal, c.reason, strings.TrimPrefix(c.authorization, "Bearer "))
			if got.Subject != c.want.Subject || got.Via != c.want.Via {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if tenant := got.Tenant.String(); tenant != "" && tenant != "acme" {
				t.Errorf("the tenant is %q", tenant)
			}
			if refusal == nil {
				return
			}
			if known := got.Subject != ""; known != (refusal.Code == codes.PermissionDenied) {
				t.Errorf("the code is %v for %+v", refusal.Code, got)
			}
		})
	}
}

func TestAGateThatAsksNobody(t *testing.T) {
	for name, cfg := range map[string]Config{
		"of nothing configured": DefaultConfig(),
		"of the zero value":     {},
		"switched off":          {Mode: ModeOff, TokensFile: "nowhere.yaml"},
	} {
		g := gate(t, cfg, nil)
		got, refusal := g.Admit(presenting(t.Context(), "Bearer whatever", TenantKey, "default", SubjectKey, "ana"),
			dropMethod)
		if refusal != nil || !got.Tenant.IsDefault() || !got.Allows(authv1.Scope_SCOPE_ADMIN) {
			t.Errorf("%s: got %+v, %v", name, got, refusal)
		}
		// The data of everybody is not for who asks for their own.
		_, refusal = g.Admit(presenting(t.Context(), "", TenantKey, "acme"), listMethod)
		wantRefusal(t, refusal, "TENANT_NOT_YOURS", "")
		g.Start()
		g.Close()
	}
}

func TestAGateForStagesAlone(t *testing.T) {
	g := gate(t, Config{Mode: ModeOn}, nil)
	_, refusal := g.Admit(presenting(t.Context(), "Bearer "+NewToken()), planMethod)
	wantRefusal(t, refusal, "TOKEN_INVALID", "")
	if !strings.Contains(refusal.Text, "only its stages call here") {
		t.Errorf("it says %q", refusal.Text)
	}
}

func TestOpenReflection(t *testing.T) {
	cfg := Config{Mode: ModeOn, OpenReflection: true}
	_, refusal := gate(t, cfg, nil).Admit(metadata.NewIncomingContext(t.Context(), nil),
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
	wantRefusal(t, refusal, "", "")
}

func TestTokensThatChange(t *testing.T) {
	one, two := NewToken(), NewToken()
	entry := func(name, token string) Token {
		return Token{Name: name, Tenant: "acme", Scopes: []string{"ask"}, SHA256: Hash(token)}
	}
	ending := entry("ending", two)
	cfg := DefaultConfig()
	cfg.TokensFile = writeTokens(t, entry("one", one))
	replace := func(from string) {
		if err := os.Rename(from, cfg.TokensFile); err != nil {
			t.Error(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ending.Expires = time.Now().Add(time.Minute)
		g := gate(t, cfg, nil)
		for _, step := range []struct {
			name   string
			change func()
			token  string
			want   string
		}{
			{"it counts", func() {}, one, ""},
			{"a broken file takes nobody's token away", func() { replace(secretFile(t, "tokens: 7")) }, one, ""},
			{"a token that was taken out counts no more", func() { replace(writeTokens(t, ending)) },
				one, "TOKEN_INVALID"},
			{"and one that was put in does", func() {}, two, ""},
			{"until it ends", func() { time.Sleep(time.Minute) }, two, "TOKEN_EXPIRED"},
			{"a file without tokens is for nobody", func() { replace(writeTokens(t)) }, two, "TOKEN_INVALID"},
		} {
			step.change()
			time.Sleep(2 * time.Second)
			if got := admit(t, g, step.token); got != step.want {
				t.Errorf("%s: got %q, want %q", step.name, got, step.want)
			}
		}
	})
}

func TestGatesThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Config)
		want []string
	}{
		{"a mode that is none", func(c *Config) { c.Mode = "maybe" }, []string{"mode", "maybe"}},
		{"a missing file of tokens", func(c *Config) { c.TokensFile = "nowhere.yaml" },
			[]string{"tokens_file", "nowhere.yaml", "triplemesh token new"}},
		{"a broken file of tokens", func(c *Config) { c.TokensFile = secretFile(t, "tokens: [{name: ci}]") },
			[]string{"tokens_file", "tokens[0]", "ci"}},
		{"a missing secret", func(c *Config) { c.MeshTokenFile = "nowhere" }, []string{"mesh_token_file", "nowhere"}},
		{"a short secret", func(c *Config) { c.MeshTokenFile = secretFile(t, "# mesh\nsecret\n") },
			[]string{"line 2", "openssl"}},
		{"an empty secret", func(c *Config) { c.MeshTokenFile = secretFile(t, "\n") }, []string{"no secret"}},
		{"keys without an issuer", func(c *Config) { c.JWT.JWKSURL = "https://issuer.test" },
			[]string{"issuer is empty"}},
		{"an issuer without an audience", func(c *Config) { *c = jwtConfig(); c.JWT.Audience = "" },
			[]string{"audience is empty"}},
		{"an issuer without keys", func(c *Config) { *c = jwtConfig(); c.JWT.JWKSURL = "" }, []string{"jwks_url"}},
		{"keys over plain http", func(c *Config) { *c = jwtConfig(); c.JWT.JWKSURL = "http://issuer.test/keys" },
			[]string{"jwks_url", "https"}},
		{"shared secrets as keys", func(c *Config) { *c = jwtConfig(); c.JWT.Algorithms = []string{"ES256", "HS256"} },
			[]string{"algorithms", `"HS256"`}},
		{"no signature at all", func(c *Config) { *c = jwtConfig(); c.JWT.Algorithms = []string{"none"} },
			[]string{"algorithms", `"none"`}},
		{"no algorithm", func(c *Config) { *c = jwtConfig(); c.JWT.Algorithms = nil }, []string{"algorithms"}},
		{"stale keys before they are fetched again",
			func(c *Config) { *c = jwtConfig(); c.JWT.MaxStale = time.Minute }, []string{"max_stale"}},
		{"a leeway that takes time away", func(c *Config) { *c = jwtConfig(); c.JWT.Leeway = -time.Second },
			[]string{"leeway"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := DefaultConfig()
			c.set(&cfg)
			_, err := NewGate(cfg, nil, slog.New(slog.DiscardHandler))
			if err == nil {
				t.Fatal("it is taken")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
	for _, url := range []string{"http://localhost:8080/keys", "http://[::1]/keys"} {
		cfg := jwtConfig()
		cfg.JWT.JWKSURL = url
		if err := cfg.JWT.Validate(); err != nil {
			t.Errorf("%s is on this machine: %v", url, err)
		}
	}
}

func TestRefusalsAreStatuses(t *testing.T) {
	var err error = unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_EXPIRED, "it ended")
	var r *Refusal
	if !errors.As(err, &r) || r.GRPCStatus().Code() != codes.Unauthenticated || len(r.GRPCStatus().Details()) != 1 {
		t.Errorf("got %v", err)
	}
}
