package llm_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
)

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*llm.Config)
		says   string
	}{
		{"the defaults need no more than an address", func(*llm.Config) {}, ""},
		{"no address", func(c *llm.Config) { c.BaseURL = "" }, "OPENAI_BASE_URL"},
		{"an address that is none", func(c *llm.Config) { c.BaseURL = "localhost:8080" }, "llm.base_url"},
		{"a fallback without an address", func(c *llm.Config) { c.Fallbacks = []llm.Endpoint{{Model: "m"}} },
			"llm.fallbacks[0].base_url"},
		{"an unknown capability", func(c *llm.Config) { c.Capabilities.LogProbs = "maybe" }, `logprobs is "maybe"`},
		{"no call in flight", func(c *llm.Config) { c.MaxInFlight = 0 }, "llm.max_in_flight"},
		{"no time", func(c *llm.Config) { c.Timeout = 0 }, "llm.timeout"},
		{"retries below none", func(c *llm.Config) { c.Retries = -1 }, "llm.retries"},
		{"no answer bytes", func(c *llm.Config) { c.MaxResponseBytes = 0 }, "llm.max_response_bytes"},
		{"a negative memory", func(c *llm.Config) { c.Cache.MemoryEntries = -1 }, "llm.cache.memory_entries"},
		{"a price for nothing", func(c *llm.Config) { c.Prices = []llm.Price{{Input: 1}} }, "llm.prices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := llm.DefaultConfig()
			cfg.BaseURL = "http://127.0.0.1:8080/v1"
			c.change(&cfg)
			_, err := llm.New(cfg, newRecorder())
			if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}
