package reflector_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt/prompttest"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"github.com/triplemesh/triplemesh/services/reflector"
)

func TestPrompts(t *testing.T) {
	ask := func(question, name, review string) func(llm.Completer) {
		walk := func(r, to string) *graphv1.ReasoningPath {
			return &graphv1.ReasoningPath{Entities: []string{name, to}, Steps: []*graphv1.RelationStep{{Relation: r}}}
		}
		return func(m llm.Completer) {
			_, _ = reflector.NewReflector(m, reflector.ReflectionConfig{MaxGroups: 2, MaxEnds: 2, MaxOthers: 2,
				MaxTokens: 64}).Reflect(
				t.Context(), reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL, reflector.Case{
					Question:   question,
					Candidates: []*graphv1.CandidateAnswer{{Answer: name}, {Answer: "Tessen"}, {Answer: "Elde"}},
					Paths: []*graphv1.ReasoningPath{walk("body of water", "Tessen"), walk("body of water", "Orla"),
						walk("body of water", "Elde"), walk("twinned_city", "Harn")},
					Verdict: &graphv1.QuestionVerdict{Reason: review},
					Verdicts: map[string]*graphv1.AnswerVerdict{
						name: {Probability: new(float32(.08))}, "Tessen": {Correct: true}, "Elde": {Unknown: true},
					},
				}, llm.NewLedger(nil))
		}
	}
	prompttest.Run(t, reflector.Prompts(), []prompttest.Case{{
		Prompt:  "reflect",
		Typical: ask("what rivers flow through velmora", "Velmora", "Orla is missing"),
		Hostile: ask(prompttest.Hostile, prompttest.HostileName, prompttest.Hostile),
		Any:     func(m llm.Completer, question, name string) { ask(question, name, name)(m) },
	}})
}
