package tests

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/llm"
)

// A prompt that begins otherwise than what the model server has evaluated ahead costs its first question
// seconds, and nothing else tells.
func TestEveryPromptOfADefaultMethodBeginsWithAWarmedPrefix(t *testing.T) {
	model := askedByAll(t)
	m, prefixes := start(t, options{model: model}), mesh.Prefixes()
	for _, method := range []string{"pg-akv", "ger", "query", "auto"} {
		before := len(model.Requests())
		m.ask(t, asking(method))
		requests := model.Requests()[before:]
		if len(requests) == 0 {
			t.Errorf("%s asked the model nothing", method)
		}
		for _, r := range requests {
			if !slices.ContainsFunc(prefixes, func(prefix []llm.Message) bool {
				return len(prefix) < len(r.Messages) && slices.Equal(prefix, r.Messages[:len(prefix)])
			}) {
				t.Errorf("%s, %s: no warmed prefix begins %q", method, r.Task, r.Messages[0].Content)
			}
		}
	}
}
