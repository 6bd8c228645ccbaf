package auth

import (
	"context"
	"net/url"

	"google.golang.org/grpc/metadata"
)

// The metadata by which one service tells another for whom it calls. A server
// believes it of callers with SCOPE_MESH alone.
const (
	TenantKey  = "triplemesh-tenant"
	SubjectKey = "triplemesh-subject"
)

// Outgoing says, in the metadata of the calls made with the context it returns,
// for whom they are made: the context's own caller. Where it has none nothing
// is said. What stood there before is taken out: only who was authenticated
// here is passed on, never what a request claims.
func Outgoing(ctx context.Context) context.Context {
	md, had := metadata.FromOutgoingContext(ctx) // a copy
	caller, ok := From(ctx)
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

// OnBehalf is for whom a request says it is made, as Outgoing wrote it. named
// is false where it says nothing. Whether the caller may say so is for the
// server to look at.
func OnBehalf(ctx context.Context) (tenant, subject string, named bool) {
	tenant, named = only(ctx, TenantKey)
	escaped, has := only(ctx, SubjectKey)
	subject, err := url.PathUnescape(escaped)
	if err != nil {
		subject = escaped
	}
	return tenant, subject, named || has
}

// only is the value of a key; several are none that could be believed.
func only(ctx context.Context, key string) (value string, has bool) {
	values := metadata.ValueFromIncomingContext(ctx, key)
	if len(values) != 1 {
		return "", len(values) > 0
	}
	return values[0], true
}
