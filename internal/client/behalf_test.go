package client_test

import (
	"context"
	"maps"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// TestForWhomAStageCalls sends a request through a stage to another service,
// which sees for whom the stage says it calls.
func TestForWhomAStageCalls(t *testing.T) {
	acme, err := auth.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan metadata.MD, 1)
	far := dial(t, bare(t, func(ctx context.Context) error {
		md, _ := metadata.FromIncomingContext(ctx)
		seen <- md
		return nil
	}))
	for _, test := range []struct {
		name   string
		claims []string // what the request comes with, key and value
		// inside is what the stage makes of its context.
		inside func(context.Context) context.Context
		want   map[string]string
	}{
		{"for whom the request was let in", nil, nil, map[string]string{auth.TenantKey: "default"}},
		{"a claim of the request goes no further", []string{auth.SubjectKey, "root", auth.TenantKey, "default"}, nil,
			map[string]string{auth.TenantKey: "default"}},
		{"nor does one that the stage would pass on", []string{auth.SubjectKey, "root"},
			func(ctx context.Context) context.Context {
				md, _ := metadata.FromIncomingContext(ctx)
				return metadata.NewOutgoingContext(ctx, md.Copy())
			}, map[string]string{auth.TenantKey: "default"}},
		{"for the caller of the context", nil, func(ctx context.Context) context.Context {
			return auth.WithCaller(ctx, auth.Caller{Tenant: acme, Subject: "anna"})
		}, map[string]string{auth.TenantKey: "acme", auth.SubjectKey: "anna"}},
		{"for no caller", nil, func(ctx context.Context) context.Context {
			md, _ := metadata.FromIncomingContext(ctx)
			return metadata.NewOutgoingContext(context.Background(), md.Copy())
		}, map[string]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			addr, _ := stage(t, func(ctx context.Context) error {
				if test.inside != nil {
					ctx = test.inside(ctx)
				}
				_, err := far.Reflect(ctx, why)
				return err
			})
			ctx := metadata.AppendToOutgoingContext(t.Context(), test.claims...)
			// As somebody else's client does, which writes what it likes.
			if _, err := plainly(t, addr).Reflect(ctx, why); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for key, values := range <-seen {
				if key == auth.TenantKey || key == auth.SubjectKey {
					for _, value := range values {
						got[key] += value
					}
				}
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("it says %v, want %v", got, test.want)
			}
		})
	}
}
