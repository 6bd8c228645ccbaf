package client_test

import (
	"context"
	"testing"
)

// BenchmarkHop is one small call over loopback with everything that stands
// between two stages: both chains, spans, validation, health.
func BenchmarkHop(b *testing.B) {
	addr, _ := stage(b, func(context.Context) error { return nil })
	c := dial(b, addr)
	for b.Loop() {
		if _, err := c.Reflect(b.Context(), why); err != nil {
			b.Fatal(err)
		}
	}
}
