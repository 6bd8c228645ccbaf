package auth

import (
	"context"
	"testing"

	"google.golang.org/grpc/metadata"
)

func TestForWhomACallIsMade(t *testing.T) {
	acme, err := ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	claimed := func(ctx context.Context) context.Context {
		return metadata.AppendToOutgoingContext(ctx, TenantKey, "other", TenantKey, "third", SubjectKey, "root",
			"x-kept", "yes")
	}
	for _, test := range []struct {
		name            string
		ctx             context.Context
		tenant, subject string
		named           bool
	}{
		{"the context's caller", WithCaller(t.Context(), Caller{Tenant: acme, Subject: "anna"}), "acme", "anna", true},
		{"a subject in another script", WithCaller(t.Context(), Caller{Tenant: acme, Subject: "анна/50%\n"}), "acme",
			"анна/50%\n", true},
		{"a caller who has no name", WithCaller(t.Context(), AnonymousCaller()), "default", "", true},
		{"nobody", t.Context(), "", "", false},
		{"a caller without a tenant", WithCaller(t.Context(), Caller{Subject: "anna"}), "", "anna", true},
		{"what was claimed gives way to the caller",
			claimed(WithCaller(t.Context(), Caller{Tenant: acme, Subject: "anna"})),
			"acme", "anna", true},
		{"what was claimed for a caller without a name", claimed(WithCaller(t.Context(), Caller{Tenant: acme})),
			"acme", "", true},
		{"what was claimed where there is no caller", claimed(t.Context()), "", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			had, _ := metadata.FromOutgoingContext(test.ctx)
			before := had.Copy()
			sent, _ := metadata.FromOutgoingContext(Outgoing(test.ctx))
			tenant, subject, named := ParseOnBehalf(metadata.NewIncomingContext(t.Context(), sent))
			if tenant != test.tenant || subject != test.subject || named != test.named {
				t.Errorf("got %q of %q, %v; want %q of %q, %v", subject, tenant, named, test.subject,
					test.tenant, test.named)
			}
			if kept, was := sent.Get("x-kept"), before.Get("x-kept"); len(kept) != len(was) {
				t.Errorf("other metadata was lost: %v", sent)
			}
		})
	}
}

func TestWhatIsSaidTwiceIsNotBelieved(t *testing.T) {
	md := metadata.Pairs(TenantKey, "acme", TenantKey, "other")
	if tenant, _, named := ParseOnBehalf(metadata.NewIncomingContext(t.Context(), md)); tenant != "" || !named {
		t.Errorf("got %q, %v, want no tenant of a request that names some", tenant, named)
	}
}
