package mesh

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
)

func TestPrefixesAreThoseOfPromptsWithExamples(t *testing.T) {
	for i, p := range Prefixes() {
		if len(p) < 3 || p[0].Role != llm.RoleSystem || p[len(p)-1].Role != llm.RoleAssistant {
			t.Errorf("prefix %d is no system message with examples: %d messages", i, len(p))
		}
	}
}
