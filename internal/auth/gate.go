package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/tenant"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

// Peer says which stage of the mesh the certificate of a request's connection
// names, as far as it was verified and is let in; false where there is none.
type Peer func(context.Context) (stage string, ok bool)

// Gate finds out who calls and turns away who may not. It is safe for
// concurrent use.
type Gate struct {
	cfg     Config
	peer    Peer
	static  *staticTokens
	jwts    *jwts
	mesh    *meshTokens
	methods methodScopes
}

// NewGate reads the files that cfg names. peer may be nil. The error names the
// setting that is wrong.
func NewGate(cfg Config, peer Peer, log *slog.Logger) (*Gate, error) {
	return newGate(cfg, peer, log, keysClient())
}

func newGate(cfg Config, peer Peer, log *slog.Logger, client *http.Client) (*Gate, error) {
	if peer == nil {
		peer = func(context.Context) (string, bool) { return "", false }
	}
	g := &Gate{cfg: cfg, peer: peer}
	if err := errors.Join(cfg.Validate(), cfg.JWT.Validate()); err != nil || !cfg.On() {
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

// On says that the gate asks who calls.
func (g *Gate) On() bool { return g.cfg.On() }

// Needs is the scope that callers of a method ("/package.Service/Method") need;
// SCOPE_UNSPECIFIED where the contract names none or does not have the method.
func (g *Gate) Needs(method string) authv1.Scope { return g.methods.of(method) }

// Begin gets ready for callers before the first one comes. Close undoes it.
func (g *Gate) Begin() {
	if g.jwts != nil {
		g.jwts.keys.warm()
	}
}

// Close ends what the gate does in the background.
func (g *Gate) Close() {
	if g.jwts != nil {
		g.jwts.keys.close()
	}
}

// Admit finds out from a request's metadata, and from its connection, who calls
// a method ("/package.Service/Method"). The caller is returned with a refusal
// too, as far as they proved who they are. A gate that asks nobody lets
// everybody in.
func (g *Gate) Admit(ctx context.Context, method string) (Caller, *Refusal) {
	md, _ := metadata.FromIncomingContext(ctx)
	if !g.On() {
		return anybody(md)
	}
	if open := strings.HasPrefix(method, "/grpc.health.") || g.cfg.OpenReflection && reflection(method); open {
		return Caller{}, nil
	}
	caller, refusal := g.identify(ctx, md)
	if refusal == nil {
		caller, refusal = onBehalf(ctx, caller)
	}
	if refusal == nil {
		refusal = g.permit(caller, method)
	}
	return caller, refusal
}

func reflection(method string) bool { return strings.HasPrefix(method, "/grpc.reflection.") }

// anybody lets everybody in, but for those who name another tenant than the one
// that everybody is: a stage that asks nobody cannot believe them, and must not
// give them the data of everybody either.
func anybody(md metadata.MD) (Caller, *Refusal) {
	for _, name := range md.Get(TenantKey) {
		if name != tenant.Default().String() {
			return Caller{}, denied(TenantNotYours, "this stage asks nobody who they are, so it cannot act for another tenant than %q: set server.auth here as at the stage that calls", tenant.Default())
		}
	}
	return Anybody(), nil
}

// identify is whose token is presented. A certificate counts where none is: a
// stage that passes somebody's token on asks for them, and for what they may.
func (g *Gate) identify(ctx context.Context, md metadata.MD) (Caller, *Refusal) {
	values := md.Get("authorization")
	if len(values) == 0 {
		if name, ok := g.peer(ctx); ok {
			return stage(name), nil
		}
	}
	token, refusal := bearer(values)
	if refusal != nil {
		return Caller{}, refusal
	}
	if caller, ok := g.mesh.caller(token); ok {
		return caller, nil
	}
	switch {
	case g.jwts != nil && looksSigned(token):
		return g.jwts.caller(ctx, token)
	case g.static != nil:
		return g.static.caller(token)
	}
	return Caller{}, unauthenticated(TokenInvalid, "nobody here has this token: want %s", g.wanted())
}

// wanted says what a caller can come with.
func (g *Gate) wanted() string {
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

// onBehalf is for whom a stage calls. Nobody else may name anybody: whose data a
// caller sees is in their token alone.
func onBehalf(ctx context.Context, caller Caller) (Caller, *Refusal) {
	name, who, named := OnBehalf(ctx)
	switch {
	case !named:
		return caller, nil
	case !caller.mesh():
		return caller, denied(TenantNotYours, "whose data you see is in your token, and only stages of the mesh may name a tenant: leave out %s and %s", TenantKey, SubjectKey)
	case who != "" && !subject(who):
		return caller, denied(TenantInvalid, "%s: want 1 to 255 printable characters", SubjectKey)
	}
	acting := Caller{Subject: who, Scopes: caller.Scopes, Via: caller.Subject}
	if name == "" && len(metadata.ValueFromIncomingContext(ctx, TenantKey)) == 0 {
		return acting, nil
	}
	var err error
	if acting.Tenant, err = tenant.Parse(name); err != nil {
		return caller, denied(TenantInvalid, "%s: want one: %v", TenantKey, err)
	}
	return acting, nil
}

// permit looks whether a caller may call a method.
func (g *Gate) permit(caller Caller, method string) *Refusal {
	if reflection(method) {
		return nil // who they are is enough
	}
	need := g.methods.of(method)
	switch {
	case need == authv1.Scope_SCOPE_UNSPECIFIED:
		return denied(ScopeUndeclared, "%s says nowhere who may call it, so nobody may", method)
	case !caller.May(need):
		return denied(ScopeMissing, "%s needs the scope %s, which %q of tenant %q does not have: have a token made that has it", method, ScopeName(need), caller.Subject, caller.Tenant)
	case caller.mesh() && caller.Tenant.IsZero() && need != authv1.Scope_SCOPE_MESH:
		return denied(TenantMissing, "%s works on a tenant's data, and the stage %q does not say whose: send %s", method, caller.Subject, TenantKey)
	}
	return nil
}
