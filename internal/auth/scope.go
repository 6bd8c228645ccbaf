package auth

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

// scopeNames are the scopes that a token can give. SCOPE_MESH is not among
// them: a token's maker would see every tenant.
var scopeNames = []struct {
	name  string
	scope authv1.Scope
}{
	{"ask", authv1.Scope_SCOPE_ASK},
	{"kg:read", authv1.Scope_SCOPE_KG_READ},
	{"kg:write", authv1.Scope_SCOPE_KG_WRITE},
	{"admin", authv1.Scope_SCOPE_ADMIN},
}

// ScopeNames are the scopes that a token can give, as people write them.
func ScopeNames() []string {
	names := make([]string, len(scopeNames))
	for i, s := range scopeNames {
		names[i] = s.name
	}
	return names
}

// ParseScope reads a scope as people write it: ask, kg:read, kg:write or admin.
func ParseScope(name string) (authv1.Scope, error) {
	for _, s := range scopeNames {
		if s.name == name {
			return s.scope, nil
		}
	}
	return 0, fmt.Errorf("scope %q: want one of %s", name, strings.Join(ScopeNames(), ", "))
}

// ScopeName is a scope as people write it.
func ScopeName(scope authv1.Scope) string {
	for _, s := range scopeNames {
		if s.scope == scope {
			return s.name
		}
	}
	return strings.ToLower(strings.TrimPrefix(scope.String(), "SCOPE_"))
}

// parseScopes reads the scopes of a JWT, in which others' may stand too:
// "openid" is nothing to us.
func parseScopes(names []string) []authv1.Scope {
	var scopes []authv1.Scope
	for _, name := range names {
		if s, err := ParseScope(name); err == nil && !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// methodScopes are the scopes of methods, as the contract says them.
type methodScopes struct{ known sync.Map }

// of is the scope that callers of a method ("/package.Service/Method") need;
// SCOPE_UNSPECIFIED where the contract names none or does not have the method.
func (m *methodScopes) of(method string) authv1.Scope {
	if s, ok := m.known.Load(method); ok {
		return s.(authv1.Scope)
	}
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(method, "/"), "/", "."))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return authv1.Scope_SCOPE_UNSPECIFIED
	}
	desc, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return authv1.Scope_SCOPE_UNSPECIFIED
	}
	scope := proto.GetExtension(desc.Options(), authv1.E_Scope).(authv1.Scope)
	m.known.Store(method, scope)
	return scope
}
