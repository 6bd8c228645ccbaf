package auth_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

func TestWhatACallerMayDo(t *testing.T) {
	const (
		none  = authv1.Scope_SCOPE_UNSPECIFIED
		ask   = authv1.Scope_SCOPE_ASK
		read  = authv1.Scope_SCOPE_KG_READ
		write = authv1.Scope_SCOPE_KG_WRITE
		admin = authv1.Scope_SCOPE_ADMIN
		mesh  = authv1.Scope_SCOPE_MESH
	)
	for _, c := range []struct {
		name   string
		scopes []authv1.Scope
		need   authv1.Scope
		may    bool
	}{
		{"one without scopes may do nothing", nil, ask, false},
		{"a scope is for itself", []authv1.Scope{ask}, ask, true},
		{"and for nothing else", []authv1.Scope{ask, read}, write, false},
		{"an admin may write", []authv1.Scope{admin}, write, true},
		{"an admin may call a stage", []authv1.Scope{admin}, mesh, true},
		{"a stage may read for somebody", []authv1.Scope{mesh}, read, true},
		{"a stage is no admin", []authv1.Scope{mesh}, admin, false},
		{"a method that names no scope is for nobody", []authv1.Scope{admin, mesh}, none, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (auth.Caller{Scopes: c.scopes}).Allows(c.need); got != c.may {
				t.Errorf("got %v, want %v", got, c.may)
			}
		})
	}
}

func TestTheContextOfACallerHasTheirTenant(t *testing.T) {
	acme, err := auth.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	ctx := auth.WithCaller(t.Context(), auth.Caller{Tenant: acme, Subject: "ci"})
	if got, err := auth.TenantFrom(ctx); err != nil || got != acme {
		t.Errorf("got %v, %v", got, err)
	}
	if c, ok := auth.CallerFrom(ctx); !ok || c.Subject != "ci" {
		t.Errorf("got %+v, %v", c, ok)
	}
	if _, ok := auth.CallerFrom(t.Context()); ok {
		t.Error("a context without a caller has one")
	}
}
