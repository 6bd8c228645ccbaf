package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"google.golang.org/grpc/metadata"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// Peer returns the stage that the verified certificate of a request's connection names; false if
// there is none or the stage is not admitted.
type Peer func(context.Context) (stage string, ok bool)

// Gate authenticates and authorizes callers. It is safe for concurrent use.
type Gate struct {
	cfg    Config
	peer   Peer
	static *staticTokens
	jwts   *jwts
	mesh   *meshTokens
}

// NewGate reads the files that cfg names. peer may be nil. The error names the wrong setting.
func NewGate(cfg Config, peer Peer, log *slog.Logger) (*Gate, error) {
	return newGate(cfg, peer, log, keysClient())
}

func newGate(cfg Config, peer Peer, log *slog.Logger, client *http.Client) (*Gate, error) {
	if peer == nil {
		peer = func(context.Context) (string, bool) { return "", false }
	}
	g := &Gate{cfg: cfg, peer: peer}
	if err := errors.Join(cfg.Validate(), cfg.JWT.Validate()); err != nil || !cfg.Enabled() {
		return g, err
	}
	var err error
	if cfg.TokensFile != "" {
		if g.static, err = openTokens(cfg.TokensFile, log); err != nil {
			return nil, err
		}
	}
	if g.mesh, err = openMeshTokens(cfg, log); err != nil {
		return nil, err
	}
	if cfg.JWT.Issuer != "" {
		g.jwts = newJWTs(cfg.JWT, newKeySet(cfg.JWT, client, log))
	}
	return g, nil
}

// Enabled reports whether callers must authenticate.
func (g *Gate) Enabled() bool { return g.cfg.Enabled() }

// Start prefetches the keys for JWTs. Close must be called after it.
func (g *Gate) Start() {
	if g.jwts != nil {
		g.jwts.keys.prefetch()
	}
}

// Close ends the gate's background work.
func (g *Gate) Close() {
	if g.jwts != nil {
		g.jwts.keys.close()
	}
}

// Admit authenticates the caller of a method ("/package.Service/Method") by the request's metadata
// and connection, and authorizes the call. The caller is returned with a refusal too, as far as it
// was authenticated.
func (g *Gate) Admit(ctx context.Context, method string) (Caller, *Refusal) {
	md, _ := metadata.FromIncomingContext(ctx)
	if !g.Enabled() {
		return admitAnonymous(md)
	}
	if open := strings.HasPrefix(method, "/grpc.health.") || g.cfg.OpenReflection && isReflection(method); open {
		return Caller{}, nil
	}
	caller, refusal := g.identify(ctx, md)
	if refusal == nil {
		caller, refusal = resolveBehalf(ctx, caller)
	}
	if refusal == nil {
		refusal = g.authorize(caller, method)
	}
	return caller, refusal
}

func isReflection(method string) bool { return strings.HasPrefix(method, "/grpc.reflection.") }

// admitAnonymous admits every caller of the default tenant. Another tenant is refused: a stage
// without authentication cannot verify it, and must not serve the default tenant's data instead.
func admitAnonymous(md metadata.MD) (Caller, *Refusal) {
	for _, name := range md.Get(TenantKey) {
		if name != DefaultTenant().String() {
			return Caller{}, denied(errorsv1.ErrorReason_ERROR_REASON_TENANT_NOT_YOURS,
				"this stage has no authentication, so it can only act for the "+
					"tenant %q: set server.auth here as at the stage that calls", DefaultTenant())
		}
	}
	return AnonymousCaller(), nil
}

// identify returns the owner of the presented token, or without one the stage of the certificate: a
// stage that forwards a token acts with the rights of the token's owner.
func (g *Gate) identify(ctx context.Context, md metadata.MD) (Caller, *Refusal) {
	values := md.Get("authorization")
	if len(values) == 0 {
		if name, ok := g.peer(ctx); ok {
			return stageCaller(name), nil
		}
	}
	token, refusal := parseBearer(values)
	if refusal != nil {
		return Caller{}, refusal
	}
	if caller, ok := g.mesh.caller(token); ok {
		return caller, nil
	}
	switch {
	case g.jwts != nil && isJWT(token):
		return g.jwts.caller(ctx, token)
	case g.static != nil:
		return g.static.caller(token)
	}
	return Caller{}, unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
		"unknown token: want %s", g.acceptedCredentials())
}

// acceptedCredentials describes the credentials that the configuration accepts.
func (g *Gate) acceptedCredentials() string {
	var kinds []string
	if g.jwts != nil {
		kinds = append(kinds, fmt.Sprintf("a JWT of %s", g.cfg.JWT.Issuer))
	}
	if g.static != nil {
		kinds = append(kinds, "a token that `triplemesh token new` made for this mesh")
	}
	if len(kinds) == 0 {
		return "a certificate or secret of the mesh: only its stages call here"
	}
	return strings.Join(kinds, " or ")
}

// resolveBehalf returns the caller on whose behalf a stage calls. Other callers may not name one:
// their token alone determines whose data they see.
func resolveBehalf(ctx context.Context, caller Caller) (Caller, *Refusal) {
	name, who, named := ParseOnBehalf(ctx)
	switch {
	case !named:
		return caller, nil
	case !caller.IsMesh():
		return caller, denied(errorsv1.ErrorReason_ERROR_REASON_TENANT_NOT_YOURS,
			"your token determines the tenant, and only stages of the mesh may name "+
				"another: leave out %s and %s", TenantKey, SubjectKey)
	case who != "" && !isValidSubject(who):
		return caller, denied(errorsv1.ErrorReason_ERROR_REASON_TENANT_INVALID,
			"%s: want 1 to 255 printable characters", SubjectKey)
	}
	acting := Caller{Subject: who, Scopes: caller.Scopes, Via: caller.Subject}
	if name == "" && len(metadata.ValueFromIncomingContext(ctx, TenantKey)) == 0 {
		return acting, nil
	}
	var err error
	if acting.Tenant, err = ParseTenant(name); err != nil {
		return caller, denied(errorsv1.ErrorReason_ERROR_REASON_TENANT_INVALID, "%s: want one: %v", TenantKey, err)
	}
	return acting, nil
}

// authorize returns the refusal of a caller that may not call a method.
func (g *Gate) authorize(caller Caller, method string) *Refusal {
	if isReflection(method) {
		return nil // authentication is enough
	}
	need := LookupMethod(method).Scope
	switch {
	case need == authv1.Scope_SCOPE_UNSPECIFIED:
		return denied(errorsv1.ErrorReason_ERROR_REASON_SCOPE_UNDECLARED,
			"%s declares no scope, so it cannot be called", method)
	case !caller.Allows(need):
		return denied(errorsv1.ErrorReason_ERROR_REASON_SCOPE_MISSING,
			"%s needs the scope %s, which %q of tenant %q does not have: get a token that "+
				"has it", method, ScopeName(need), caller.Subject, caller.Tenant)
	case caller.IsMesh() && caller.Tenant.IsZero() && need != authv1.Scope_SCOPE_MESH:
		return denied(errorsv1.ErrorReason_ERROR_REASON_TENANT_MISSING,
			"%s needs a tenant, and the stage %q names none: send %s",
			method, caller.Subject, TenantKey)
	}
	return nil
}
