// Package auth authenticates callers and decides which methods they may call.
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/grpc/metadata"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

// Caller is the authenticated sender of a request.
type Caller struct {
	// Tenant owns the data that the caller sees.
	Tenant Tenant
	// Subject identifies the caller within the tenant: the "sub" of a JWT, the name of a static token,
	// a stage's name. It is empty without authentication.
	Subject string
	// Scopes are what the caller may do.
	Scopes []authv1.Scope
	// Via is the stage that calls on behalf of the caller; empty for a direct call.
	Via string
}

// AnonymousCaller returns the caller of a mesh without authentication.
func AnonymousCaller() Caller {
	return Caller{Tenant: DefaultTenant(), Scopes: []authv1.Scope{authv1.Scope_SCOPE_ADMIN, authv1.Scope_SCOPE_MESH}}
}

// Allows reports whether the caller may call methods that need a scope.
func (c Caller) Allows(need authv1.Scope) bool {
	switch {
	case need == authv1.Scope_SCOPE_UNSPECIFIED:
		return false
	case slices.Contains(c.Scopes, need), slices.Contains(c.Scopes, authv1.Scope_SCOPE_ADMIN):
		return true
	}
	// A stage calls on behalf of a caller whose scopes were checked at the entry to the mesh.
	return need != authv1.Scope_SCOPE_ADMIN && slices.Contains(c.Scopes, authv1.Scope_SCOPE_MESH)
}

type callerKey struct{}

// WithCaller returns a context with a caller and the caller's tenant.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(WithTenant(ctx, c.Tenant), callerKey{}, c)
}

// CallerFrom returns the context's caller; false if it has none.
func CallerFrom(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// IsMesh reports whether the caller is a stage of the mesh.
func (c Caller) IsMesh() bool { return slices.Contains(c.Scopes, authv1.Scope_SCOPE_MESH) }

// Tenant owns knowledge graphs, runs, cached answers and quotas. It comes from the caller's verified
// identity, never from a request. The zero Tenant is none: stores refuse it, so that code which lost
// the tenant reads no data rather than another tenant's.
type Tenant struct {
	name string
}

// defaultTenantName is the tenant of a mesh that does not authenticate its callers.
const defaultTenantName = "default"

// DefaultTenant returns the one tenant of a mesh that does not authenticate its callers.
func DefaultTenant() Tenant { return Tenant{defaultTenantName} }

// tenantNames are short enough for a directory, a metric label and a part of a collection's name.
var tenantNames = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// ParseTenant parses a tenant's name: a lower-case letter and up to 39 of a-z, 0-9 and -.
func ParseTenant(name string) (Tenant, error) {
	if !tenantNames.MatchString(name) {
		return Tenant{}, fmt.Errorf("tenant %q: a name is a lower-case letter and up to 39 of a-z, 0-9 and -", name)
	}
	return Tenant{name}, nil
}

// String returns the tenant's name, which is empty for the zero Tenant.
func (t Tenant) String() string { return t.name }

// IsZero reports whether t is no tenant.
func (t Tenant) IsZero() bool { return t.name == "" }

// IsDefault reports whether t is DefaultTenant.
func (t Tenant) IsDefault() bool { return t.name == defaultTenantName }

// Attribute names the tenant in metrics and spans.
func (t Tenant) Attribute() attribute.KeyValue { return attribute.String("triplemesh.tenant", t.name) }

type tenantKey struct{}

// WithTenant returns a context whose work is done for a tenant.
func WithTenant(ctx context.Context, t Tenant) context.Context {
	return context.WithValue(ctx, tenantKey{}, t)
}

// ErrNoTenant is returned for a context without a tenant. The server gives every request one, so it
// is a programming error.
var ErrNoTenant = errors.New("the context has no tenant")

// TenantFrom returns the context's tenant.
func TenantFrom(ctx context.Context) (Tenant, error) {
	t, _ := ctx.Value(tenantKey{}).(Tenant)
	if t.IsZero() {
		return Tenant{}, ErrNoTenant
	}
	return t, nil
}

// TenantAttribute names the context's tenant in metrics and spans, "none" without one. The number of
// its values is bounded, because every tenant in a context was authenticated.
func TenantAttribute(ctx context.Context) attribute.KeyValue {
	if t, err := TenantFrom(ctx); err == nil {
		return t.Attribute()
	}
	return Tenant{"none"}.Attribute()
}

// The metadata that names the caller on whose behalf a stage calls. Servers accept it only from
// callers with SCOPE_MESH.
const (
	TenantKey  = "triplemesh-tenant"
	SubjectKey = "triplemesh-subject"
)

// Outgoing returns a context whose outgoing metadata names the context's caller, if it has one.
// Existing values are removed: only an identity authenticated here is forwarded, never what a
// request claims.
func Outgoing(ctx context.Context) context.Context {
	md, had := metadata.FromOutgoingContext(ctx) // a copy
	caller, ok := CallerFrom(ctx)
	if !ok && len(md.Get(TenantKey)) == 0 && len(md.Get(SubjectKey)) == 0 {
		return ctx
	}
	if !had {
		md = metadata.MD{}
	}
	md.Delete(TenantKey)
	md.Delete(SubjectKey)
	if ok && !caller.Tenant.IsZero() {
		md.Set(TenantKey, caller.Tenant.String())
	}
	if ok && caller.Subject != "" {
		// A header is ASCII; a subject may be in any script.
		md.Set(SubjectKey, url.PathEscape(caller.Subject))
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// ParseOnBehalf returns the tenant and subject that Outgoing wrote; named is false if there is none.
// The server must check whether the caller may name them.
func ParseOnBehalf(ctx context.Context) (tenant, subject string, named bool) {
	tenant, named = singleValue(ctx, TenantKey)
	escaped, has := singleValue(ctx, SubjectKey)
	subject, err := url.PathUnescape(escaped)
	if err != nil {
		subject = escaped
	}
	return tenant, subject, named || has
}

// singleValue returns the value of a key, and an empty one if there are several.
func singleValue(ctx context.Context, key string) (value string, has bool) {
	values := metadata.ValueFromIncomingContext(ctx, key)
	if len(values) != 1 {
		return "", len(values) > 0
	}
	return values[0], true
}
