package prompts_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt/prompttest"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/answer"
	"github.com/triplemesh/triplemesh/services/generator/candidates"
	"github.com/triplemesh/triplemesh/services/generator/claims"
	"github.com/triplemesh/triplemesh/services/generator/followup"
	"github.com/triplemesh/triplemesh/services/generator/paths"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
	"github.com/triplemesh/triplemesh/services/generator/pseudograph"
	"github.com/triplemesh/triplemesh/services/generator/query"
)

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
	const (
		entities = graphv1.AnswerForm_ANSWER_FORM_ENTITIES
		text     = graphv1.AnswerForm_ANSWER_FORM_TEXT
	)
	ledger := llm.NewLedger(nil)
	river := &graphv1.RelationStep{Relation: "location.location.body_of_water"}
	back := &graphv1.RelationStep{Relation: "flows through", Inverse: true}
	write := func(style generatorv1.AnswerStyle, form graphv1.AnswerForm) func(llm.Completer, input) {
		return func(m llm.Completer, in input) {
			_, _ = answer.New(m, answer.DefaultConfig()).Write(t.Context(), answer.Request{
				Question: in.question, Style: style, Form: form,
				Paths: []*graphv1.ReasoningPath{
					{Entities: []string{in.name, "Tessen", in.name}, Steps: []*graphv1.RelationStep{river, back}},
					{Entities: []string{in.name, in.name}, Steps: []*graphv1.RelationStep{river}},
					{Entities: []string{in.name, "Orla"}, Steps: []*graphv1.RelationStep{river}},
				},
				FixedGraph: &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{
					{Triple: &graphv1.Triple{Subject: in.name, Relation: "MAYOR", Object: in.name},
						Status: graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED},
					{Triple: &graphv1.Triple{
						Subject: in.name, Relation: "body_of_water", Object: "Orla",
						Validity: &graphv1.ValidityInterval{Start: "1998", End: "2006-05"},
					}, Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED},
				}},
			}, ledger)
		}
	}
	candidates := func(feedback func(input) *generatorv1.Feedback) func(llm.Completer, input) {
		return func(m llm.Completer, in input) {
			var said *generatorv1.Feedback
			if feedback != nil {
				said = feedback(in)
			}
			_, _, _ = candidates.New(m, candidates.Config{MaxGroups: 2, MaxEnds: 2, MaxTokens: 64}).Read(t.Context(),
				in.question, []*graphv1.ReasoningPath{
					{Entities: []string{in.name, "Tessen"}, Steps: []*graphv1.RelationStep{river}},
					{Entities: []string{in.name, "Orla"}, Steps: []*graphv1.RelationStep{river}},
					{Entities: []string{in.name, "Elde"}, Steps: []*graphv1.RelationStep{river}},
					{Entities: []string{in.name, "Tessen", in.name}, Steps: []*graphv1.RelationStep{river, back}},
				}, said, ledger)
		}
	}
	prompttest.Run(t, prompts.Files, []prompttest.Case{
		both("pseudo_graph", func(m llm.Completer, in input) {
			_, _ = pseudograph.New(m, pseudograph.DefaultConfig()).PseudoGraph(t.Context(), in.question, ledger)
		}),
		both("claims", func(m llm.Completer, in input) {
			_, _, _ = claims.New(m, claims.DefaultConfig()).Read(t.Context(), "It lies on "+in.question,
				in.name+" is a city.", ledger)
		}),
		both("relation_paths_propose", func(m llm.Completer, in input) {
			_, _, _ = paths.New(m, paths.DefaultConfig()).Propose(t.Context(), in.question,
				[]string{in.name, "Tessen"}, 3, ledger)
		}),
		both("relation_paths_choose", func(m llm.Completer, in input) {
			_, _, _ = paths.New(m, paths.DefaultConfig()).Choose(t.Context(), in.question,
				[]*graphv1.RelationPath{
					{TopicEntities: []string{in.name}, Steps: []*graphv1.RelationStep{river}},
					{TopicEntities: []string{in.name, "Tessen"}, Steps: []*graphv1.RelationStep{river, back}},
				}, 1, ledger)
		}),
		both("query_plan", func(m llm.Completer, in input) {
			_, _ = query.New(m, query.DefaultConfig()).Plan(t.Context(), in.question, ledger)
		}),
		both("query_cypher", func(m llm.Completer, in input) {
			_, _ = query.New(m, query.DefaultConfig()).PlanBySchema(t.Context(), in.question,
				[]string{"(\"" + in.name + "\")-[:`flows through`]->(\"Tessen\")"}, ledger)
		}),
		both("candidate_answers", candidates(nil)),
		both("candidate_answers_review", candidates(func(in input) *generatorv1.Feedback {
			return &generatorv1.Feedback{
				Question: &graphv1.QuestionVerdict{Reason: "a mayor is no river: " + in.name},
				Answers: []*graphv1.AnswerVerdict{
					{Answer: in.name, Correct: true, Probability: new(float32(.93))}, {Answer: "Tessen"},
					{Answer: "Orla", Unknown: true},
				},
			}
		})),
		both("answer_direct", write(generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT, entities)),
		both("answer_chain_of_thought", write(generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT, entities)),
		both("answer_from_graph", write(generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH, entities)),
		both("answer_from_paths", write(generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS, entities)),
		both("answer_text_direct", write(generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT, text)),
		both("answer_text_chain_of_thought", write(generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT, text)),
		both("answer_text_from_graph", write(generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH, text)),
		both("answer_text_from_paths", write(generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS, text)),
		both("relation_words", func(m llm.Completer, in input) {
			_, _, _ = paths.NewWordFinder(m).Find(t.Context(),
				[]*graphv1.Triple{{Subject: in.name, Relation: in.question, Object: in.name}}, ledger)
		}),
		both("follow_up", func(m llm.Completer, in input) {
			_, _, _ = followup.New(m, followup.Config{MaxTurns: 3, MaxTurnRunes: 300, MaxTokens: 64}).Rewrite(
				t.Context(), in.question, []*generatorv1.Turn{
					{Role: generatorv1.Role_ROLE_USER, Text: "a turn that is too old to be shown"},
					{Role: generatorv1.Role_ROLE_USER, Text: "where is " + in.name + "?\n\nwhere"},
					{Role: generatorv1.Role_ROLE_ASSISTANT, Text: "It is in {" + in.name + "}."},
					{Role: generatorv1.Role_ROLE_USER, Text: in.question},
				}, ledger)
		}),
	})
}

// What fine-tuned planners are told is a setting; what it comes to by default
// is looked at as the prompts are.
func TestTheInstructionOfFineTunedPlanners(t *testing.T) {
	cfg := paths.DefaultConfig()
	cfg.Format = paths.FormatRoG
	for file, in := range map[string][2]string{
		"relation_paths_rog.golden":         {"what rivers flow through velmora", "Velmora"},
		"relation_paths_rog_hostile.golden": {prompttest.Hostile, prompttest.HostileName},
	} {
		messages, err := paths.New(nil, cfg).PlanMessages(in[0], []string{in[1], "Tessen"})
		if err != nil {
			t.Fatal(err)
		}
		prompttest.Contained(t, messages)
		prompttest.Golden(t, file, messages)
	}
}
