package server

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

func TestTheChainHasItsOrder(t *testing.T) {
	cfg, tel := DefaultConfig("localhost:0"), telemetry.Discard()
	gate, err := auth.NewGate(cfg.Auth, nil, tel.Logger())
	if err != nil {
		t.Fatal(err)
	}
	audit, err := newAudit(cfg.Audit, gate, tel)
	if err != nil {
		t.Fatal(err)
	}
	links, err := newChain(cfg, policy{}, gate, audit, tel)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"otel", "local peer", "request id", "audit", "metrics", "logging", "error mapping", "recovery",
		"deadline guard", "peers", "authentication", "admission", "validation",
	}
	if got := links.names(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, link := range links {
		if link.unary == nil || link.stream == nil {
			t.Errorf("%s lacks a unary or a streaming half", link.name)
		}
	}
}

func (c chain) names() []string {
	names := make([]string, len(c))
	for i, l := range c {
		names[i] = l.name
	}
	return names
}
