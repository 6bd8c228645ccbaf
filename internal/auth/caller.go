// Package auth finds out who calls and what they may do.
package auth

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/tenant"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

// Caller is whoever makes a request, as far as they proved it.
type Caller struct {
	// Tenant is whose data they see.
	Tenant tenant.ID
	// Subject names them within the tenant: the "sub" of a JWT, the name of a
	// static token, a stage's name. Empty where nobody is asked.
	Subject string
	// Scopes are what they may do.
	Scopes []authv1.Scope
	// Via is the stage that calls on their behalf; empty where they call
	// themselves.
	Via string
}

// Anybody is the caller of a mesh that asks nobody who they are.
func Anybody() Caller {
	return Caller{Tenant: tenant.Default(), Scopes: []authv1.Scope{authv1.Scope_SCOPE_ADMIN, authv1.Scope_SCOPE_MESH}}
}

// May says whether the caller may call methods that need a scope.
func (c Caller) May(need authv1.Scope) bool {
	switch {
	case need == authv1.Scope_SCOPE_UNSPECIFIED:
		return false
	case slices.Contains(c.Scopes, need), slices.Contains(c.Scopes, authv1.Scope_SCOPE_ADMIN):
		return true
	}
	// A stage asks for somebody whose own scopes were looked at where they came
	// in.
	return need != authv1.Scope_SCOPE_ADMIN && slices.Contains(c.Scopes, authv1.Scope_SCOPE_MESH)
}

type key struct{}

// With gives a context its caller, and the caller's tenant.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(tenant.With(ctx, c.Tenant), key{}, c)
}

// From is the context's caller; false where it has none.
func From(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(key{}).(Caller)
	return c, ok
}

// mesh says that a stage of the mesh calls.
func (c Caller) mesh() bool { return slices.Contains(c.Scopes, authv1.Scope_SCOPE_MESH) }
