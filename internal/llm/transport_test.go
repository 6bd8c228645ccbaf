package llm

import (
	"net/http"
	"testing"
	"time"
)

func TestConnectionsAreClosedBeforeServersCloseThem(t *testing.T) {
	base, ok := newTransport(Config{MaxInFlight: 1}).base.(*http.Transport)
	if !ok || base.IdleConnTimeout <= 0 || base.IdleConnTimeout >= 5*time.Second {
		t.Errorf("idle connections are kept for %v", base.IdleConnTimeout)
	}
}
