package auth

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// scopeNames are the scopes that a token can grant. SCOPE_MESH is not among them: it gives access to
// every tenant.
var scopeNames = []struct {
	name  string
	scope authv1.Scope
}{
	{"ask", authv1.Scope_SCOPE_ASK},
	{"kg:read", authv1.Scope_SCOPE_KG_READ},
	{"kg:write", authv1.Scope_SCOPE_KG_WRITE},
	{"feedback:read", authv1.Scope_SCOPE_FEEDBACK_READ},
	{"admin", authv1.Scope_SCOPE_ADMIN},
}

// ScopeNames returns the names of the scopes that a token can grant.
func ScopeNames() []string {
	names := make([]string, len(scopeNames))
	for i, s := range scopeNames {
		names[i] = s.name
	}
	return names
}

// ParseScope parses the name of a scope: ask, kg:read, kg:write, feedback:read or admin.
func ParseScope(name string) (authv1.Scope, error) {
	for _, s := range scopeNames {
		if s.name == name {
			return s.scope, nil
		}
	}
	return 0, fmt.Errorf("scope %q: want one of %s", name, strings.Join(ScopeNames(), ", "))
}

// ScopeName returns the name of a scope.
func ScopeName(scope authv1.Scope) string {
	for _, s := range scopeNames {
		if s.scope == scope {
			return s.name
		}
	}
	return strings.ToLower(strings.TrimPrefix(scope.String(), "SCOPE_"))
}

// parseScopes parses the scopes of a JWT and skips unknown ones, such as "openid".
func parseScopes(names []string) []authv1.Scope {
	var scopes []authv1.Scope
	for _, name := range names {
		if s, err := ParseScope(name); err == nil && !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// Method is what the contract's options say about a method. The zero Method, of a method that the
// contract does not have, may not be called, is not audited and not retried.
type Method struct {
	// Scope is what callers need; SCOPE_UNSPECIFIED admits no caller.
	Scope authv1.Scope
	// Audited is whether every call has a line in the audit log.
	Audited bool
	// Idempotent is whether a call that may have been executed can be made again.
	Idempotent bool
}

// Hedgeable reports whether a call can be made at another replica while the first one may still
// execute it: two replicas must not write one knowledge graph at the same time.
func (m Method) Hedgeable() bool { return m.Idempotent && m.Scope != authv1.Scope_SCOPE_KG_WRITE }

// methods caches LookupMethod by full method name; unknown names are not cached, as callers can
// make up any number of them.
var methods sync.Map

// LookupMethod returns the options of a method ("/package.Service/Method").
func LookupMethod(fullMethod string) Method {
	if m, ok := methods.Load(fullMethod); ok {
		return m.(Method)
	}
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(fullMethod, "/"), "/", "."))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return Method{}
	}
	desc, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return Method{}
	}
	m := methodOf(desc)
	methods.Store(fullMethod, m)
	return m
}

func methodOf(desc protoreflect.MethodDescriptor) Method {
	options := desc.Options().(*descriptorpb.MethodOptions)
	return Method{
		Scope:      proto.GetExtension(options, authv1.E_Scope).(authv1.Scope),
		Audited:    proto.GetExtension(options, authv1.E_Audit).(bool),
		Idempotent: options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN,
	}
}

// IdempotentMethods returns the services of the linked contract, by full name, with the names of
// their idempotent methods.
func IdempotentMethods() map[string][]string {
	services := map[string][]string{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				if desc := service.Methods().Get(j); methodOf(desc).Idempotent {
					name := string(service.FullName())
					services[name] = append(services[name], string(desc.Name()))
				}
			}
		}
		return true
	})
	return services
}

// Refusal is why a call is refused. It never contains any part of a token.
type Refusal struct {
	// Code is UNAUTHENTICATED for an unknown caller, PERMISSION_DENIED for a known one, and UNAVAILABLE
	// if the caller cannot be authenticated at the moment.
	Code   codes.Code
	Reason errorsv1.ErrorReason
	// Text is the error and what to do about it.
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// GRPCStatus returns the refusal as callers see it.
func (r *Refusal) GRPCStatus() *status.Status {
	st := status.New(r.Code, r.Text)
	if with, err := st.WithDetails(errinfo.New(r.Reason, nil)); err == nil {
		return with
	}
	return st
}

func unauthenticated(reason errorsv1.ErrorReason, format string, args ...any) *Refusal {
	return &Refusal{codes.Unauthenticated, reason, fmt.Sprintf(format, args...)}
}

func denied(reason errorsv1.ErrorReason, format string, args ...any) *Refusal {
	return &Refusal{codes.PermissionDenied, reason, fmt.Sprintf(format, args...)}
}
