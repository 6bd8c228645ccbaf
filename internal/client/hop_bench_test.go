package client_test

import (
	"context"
	"testing"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/testkit"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// BenchmarkHop is one small call over loopback with everything that stands
// between two stages: both chains, spans, validation, health; in plain text and
// over mTLS, and the latter with a connection of its own for each call, too.
func BenchmarkHop(b *testing.B) {
	certs := testkit.NewCerts(b, "discard")
	secure := func(cfg *server.Config) { cfg.TLS.Files, cfg.TLS.Peers = certs.Files(), []string{"discard"} }
	call := func(cfg *client.Config) { client.WithTLS("discard", certs.Files())(cfg) }
	ask := func(b *testing.B, c reflectorv1.ReflectorServiceClient) {
		if _, err := c.Reflect(b.Context(), why); err != nil {
			b.Fatal(err)
		}
	}
	nothing := func(context.Context) error { return nil }
	b.Run("plain", func(b *testing.B) {
		addr, _ := stage(b, nothing)
		c := dial(b, addr)
		for b.Loop() {
			ask(b, c)
		}
	})
	b.Run("mtls", func(b *testing.B) {
		addr, _ := stage(b, nothing, secure)
		c := dial(b, addr, call)
		for b.Loop() {
			ask(b, c)
		}
	})
	b.Run("plain-connection", func(b *testing.B) {
		addr, _ := stage(b, nothing)
		for b.Loop() {
			ask(b, dial(b, addr))
		}
	})
	b.Run("mtls-connection", func(b *testing.B) {
		addr, _ := stage(b, nothing, secure)
		for b.Loop() {
			ask(b, dial(b, addr, call))
		}
	})
}
