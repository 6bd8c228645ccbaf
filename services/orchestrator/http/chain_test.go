package http

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

func TestTheChainHasItsOrder(t *testing.T) {
	links, err := newChain(DefaultConfig(), newRoutes(nil), make(chan struct{}), telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"otel", "request id", "access log", "recovery", "security headers", "host", "origin",
		"stream limit", "slow readers", "body limit", "going down", "caller",
	}
	if got := links.names(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func (c chain) names() []string {
	names := make([]string, len(c))
	for i, l := range c {
		names[i] = l.name
	}
	return names
}
