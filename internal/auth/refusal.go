package auth

import (
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Reasons of refusals, as the ErrorInfo of a status has them.
const (
	TokenMissing     = "TOKEN_MISSING"
	TokenInvalid     = "TOKEN_INVALID"
	TokenExpired     = "TOKEN_EXPIRED"
	TokenNotYetValid = "TOKEN_NOT_YET_VALID"
	WrongIssuer      = "WRONG_ISSUER"
	WrongAudience    = "WRONG_AUDIENCE"
	KeysUnavailable  = "KEYS_UNAVAILABLE"
	ScopeMissing     = "SCOPE_MISSING"
	ScopeUndeclared  = "SCOPE_UNDECLARED"
	TenantMissing    = "TENANT_MISSING"
	TenantInvalid    = "TENANT_INVALID"
	TenantNotYours   = "TENANT_NOT_YOURS"
)

// Refusal is why a caller is turned away. It never holds any part of a token.
type Refusal struct {
	// Code is UNAUTHENTICATED where it is not known who calls, PERMISSION_DENIED
	// where it is, and UNAVAILABLE where it cannot be found out now.
	Code codes.Code
	// Reason is one of those above.
	Reason string
	// Text says what is wrong and what to do next.
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// GRPCStatus is the refusal as callers see it.
func (r *Refusal) GRPCStatus() *status.Status {
	st := status.New(r.Code, r.Text)
	if with, err := st.WithDetails(&errdetails.ErrorInfo{Domain: "triplemesh", Reason: r.Reason}); err == nil {
		return with
	}
	return st
}

func unauthenticated(reason, format string, args ...any) *Refusal {
	return &Refusal{codes.Unauthenticated, reason, fmt.Sprintf(format, args...)}
}

func denied(reason, format string, args ...any) *Refusal {
	return &Refusal{codes.PermissionDenied, reason, fmt.Sprintf(format, args...)}
}
