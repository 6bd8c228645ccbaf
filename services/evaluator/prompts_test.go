package evaluator_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt/prompttest"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/evaluator"
)

// riverPaths lead from a name to its rivers, and over a river back.
func riverPaths(name string) []*graphv1.ReasoningPath {
	river := &graphv1.RelationStep{Relation: "location.location.body_of_water"}
	back := &graphv1.RelationStep{Relation: "flows through", Inverse: true}
	return []*graphv1.ReasoningPath{
		{Entities: []string{name, "Tessen"}, Steps: []*graphv1.RelationStep{river}},
		{Entities: []string{name, "Orla"}, Steps: []*graphv1.RelationStep{river}},
		{Entities: []string{name, "Elde"}, Steps: []*graphv1.RelationStep{river}},
		{Entities: []string{name, "Tessen", name}, Steps: []*graphv1.RelationStep{river, back}},
	}
}

func TestPrompts(t *testing.T) {
	type input struct{ question, name string }
	both := func(name string, ask func(llm.Completer, input)) prompttest.Case {
		return prompttest.Case{
			Prompt:  name,
			Typical: func(m llm.Completer) { ask(m, input{"what rivers flow through velmora", "Velmora"}) },
			Hostile: func(m llm.Completer) { ask(m, input{prompttest.Hostile, prompttest.HostileName}) },
			Any:     func(m llm.Completer, question, name string) { ask(m, input{question, name}) },
		}
	}
	judge := func(m llm.Completer) *evaluator.Judge {
		return evaluator.NewJudge(m, evaluator.JudgeConfig{Parallel: 1, MaxGroups: 2, MaxEnds: 2, MaxPaths: 2})
	}
	candidates := func(in input) []*graphv1.CandidateAnswer {
		return []*graphv1.CandidateAnswer{{Answer: in.name, Paths: riverPaths(in.name)}, {Answer: "Orla"}}
	}
	prompttest.Run(t, evaluator.Prompts(), []prompttest.Case{
		both("evaluate_question", func(m llm.Completer, in input) {
			_, _, _ = judge(m).Question(t.Context(), in.question, candidates(in), riverPaths(in.name),
				llm.NewLedger(nil))
		}),
		both("evaluate_answer", func(m llm.Completer, in input) {
			_, _, _ = judge(m).Answers(t.Context(), in.question, candidates(in), llm.NewLedger(nil))
		}),
		both("evaluate_relation", func(m llm.Completer, in input) {
			_, _, _ = judge(m).Relations(t.Context(), in.question, candidates(in), llm.NewLedger(nil))
		}),
		both("judge_sufficiency", func(m llm.Completer, in input) {
			_, _, _ = judge(m).Sufficient(t.Context(), in.question, riverPaths(in.name), llm.NewLedger(nil))
		}),
		both("rank_candidates", func(m llm.Completer, in input) {
			_, _, _ = evaluator.NewRanker(m).Rank(t.Context(), in.question, in.name, []string{"population", in.name}, 3,
				llm.NewLedger(nil))
		}),
	})
}
