package method_test

import (
	"context"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/config"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func withAblation(a orchestratorv1.Ablation) *orchestratorv1.AskOptions {
	return &orchestratorv1.AskOptions{Ablation: a}
}

func TestAblations(t *testing.T) {
	generate := []string{"LinkEntities", "SuggestPaths", "GenerateRelationPaths", "SuggestPaths", "FollowPaths",
		"GenerateCandidateAnswers"}
	for _, c := range []struct {
		name      string
		method    string
		ablation  orchestratorv1.Ablation
		calls     []string
		answers   []string
		grounding orchestratorv1.Grounding
	}{
		{"pg-akv from the pseudo-graph retrieves nothing", "pg-akv", orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH,
			[]string{"GeneratePseudoGraph", "GenerateAnswer"}, []string{stagetest.Director},
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED},
		{"pg-akv from the ground graph verifies nothing", "pg-akv", orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH,
			[]string{"GeneratePseudoGraph", "GroundGraph", "GenerateAnswer"}, []string{stagetest.Director},
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"pg-akv without a pseudo-graph grounds by the question", "pg-akv",
			orchestratorv1.Ablation_ABLATION_NO_PSEUDO_GRAPH, []string{"GroundGraph", "Verify", "GenerateAnswer"},
			[]string{stagetest.Director}, orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"ger by generation only answers with the candidates", "ger", orchestratorv1.Ablation_ABLATION_GENERATION_ONLY,
			generate, []string{"Harn", "Tessen"}, orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"ger without evaluation reflects at once", "ger", orchestratorv1.Ablation_ABLATION_NO_EVALUATION,
			append(slices.Clone(generate), "Reflect"), []string{"Tessen", "Orla"},
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"ger with negative verdicts calls no evaluator", "ger", orchestratorv1.Ablation_ABLATION_NEGATIVE_VERDICTS,
			append(slices.Clone(generate), "Reflect"), []string{"Tessen", "Orla"},
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"ger without reflection answers with what was judged right", "ger",
			orchestratorv1.Ablation_ABLATION_NO_REFLECTION,
			append(slices.Clone(generate), "EvaluateQuestion", "EvaluateAnswers"), []string{"Tessen"},
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"ger with the generator in the reflector's place asks it again", "ger",
			orchestratorv1.Ablation_ABLATION_GENERATOR_REFLECTS,
			append(slices.Clone(generate), "EvaluateQuestion", "EvaluateAnswers", "GenerateCandidateAnswers"),
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"ger at the question level only", "ger", orchestratorv1.Ablation_ABLATION_QUESTION_LEVEL_ONLY,
			append(slices.Clone(generate), "EvaluateQuestion", "Reflect"), []string{"Tessen", "Orla"},
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"ger at the answer level only", "ger", orchestratorv1.Ablation_ABLATION_ANSWER_LEVEL_ONLY,
			append(slices.Clone(generate), "EvaluateAnswers", "Reflect"), []string{"Tessen", "Orla"},
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			run, err := ask(t.Context(), t, mesh, askOptions{method: c.method, limits: plenty,
				options: withAblation(c.ablation)})
			if err != nil {
				t.Fatal(err)
			}
			if got := mesh.Calls(); !slices.Equal(got, c.calls) {
				t.Errorf("called %q, want %q", got, c.calls)
			}
			if !slices.Equal(names(run), c.answers) || run.GetGrounding() != c.grounding || run.GetText() == "" ||
				run.GetPartial() {
				t.Errorf("answered %q as %q, %v, partial %v", names(run), run.GetText(), run.GetGrounding(),
					run.GetPartial())
			}
		})
	}
}

// Every ablation of every method goes through the stages that it leaves in, and
// no other.
func TestAnAblationLeavesOutWhatItSays(t *testing.T) {
	for _, m := range method.All(stagetest.New(t).Stages(t), gerConfig) {
		ablated, ok := m.(method.Ablatable)
		if has := m.Info().GetAblations(); ok != (len(has) > 0) {
			t.Errorf("%s lists the ablations %v", m.Info().GetName(), has)
		}
		for _, a := range m.Info().GetAblations() {
			t.Run(m.Info().GetName()+" "+config.EnumName(a), func(t *testing.T) {
				run, err := ask(t.Context(), t, stagetest.New(t), askOptions{method: m.Info().GetName(), limits: plenty,
					options: withAblation(a)})
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, s := range m.Info().GetStages() {
					if !slices.Contains(ablated.SkippedStages(a), s) {
						want = append(want, config.EnumName(s))
					}
				}
				if got := stages(run); !slices.Equal(got, want) {
					t.Errorf("went through %q, want %q", got, want)
				}
			})
		}
	}
}

func TestTheWriterSeesTheGraphOfTheAblation(t *testing.T) {
	for _, c := range []struct {
		name     string
		ablation orchestratorv1.Ablation
		objects  []string
		status   graphv1.TripleStatus
	}{
		{"the draft, as one that nothing confirms", orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH,
			[]string{"Lars Holm"}, graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED},
		{"all evidence, the best next to the question", orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH,
			[]string{stagetest.Director, "drama"}, graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			run, err := ask(t.Context(), t, mesh, askOptions{method: "pg-akv", options: withAblation(c.ablation)})
			if err != nil {
				t.Fatal(err)
			}
			var objects []string
			for _, f := range stagetest.Requests[*generatorv1.GenerateAnswerRequest](
				mesh)[0].GetFixedGraph().GetTriples() {
				objects = append(objects, f.GetTriple().GetObject())
				if f.GetStatus() != c.status {
					t.Errorf("%v should be %v", f, c.status)
				}
			}
			if !slices.Equal(objects, c.objects) || run.GetPgAkv().GetFixedGraph() != nil {
				t.Errorf("answered from %q, want %q; the run holds the fixed graph %v", objects, c.objects,
					run.GetPgAkv().GetFixedGraph())
			}
		})
	}
}

func TestWhatReflectionIsGiven(t *testing.T) {
	for _, c := range []struct {
		name     string
		ablation orchestratorv1.Ablation
		question bool
		answers  int
	}{
		{"no verdict without evaluation", orchestratorv1.Ablation_ABLATION_NO_EVALUATION, false, 0},
		{"one on the set at the question level", orchestratorv1.Ablation_ABLATION_QUESTION_LEVEL_ONLY, true, 0},
		{"one on each candidate at the answer level", orchestratorv1.Ablation_ABLATION_ANSWER_LEVEL_ONLY, false, 2},
		{"negative ones on both", orchestratorv1.Ablation_ABLATION_NEGATIVE_VERDICTS, true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			if _, err := ask(t.Context(), t, mesh,
				askOptions{method: "ger", options: withAblation(c.ablation)}); err != nil {
				t.Fatal(err)
			}
			req := stagetest.Requests[*reflectorv1.ReflectRequest](mesh)[0]
			if (req.GetQuestionVerdict() != nil) != c.question || len(req.GetAnswerVerdicts()) != c.answers ||
				len(req.GetCandidates()) != 2 {
				t.Errorf("reflected on %v", req)
			}
			if c.ablation != orchestratorv1.Ablation_ABLATION_NEGATIVE_VERDICTS {
				return
			}
			if v := req.GetQuestionVerdict(); v.GetCorrect() || !v.GetIncomplete() || v.GetReason() == "" {
				t.Errorf("the verdict on the set is %v", v)
			}
			for _, v := range req.GetAnswerVerdicts() {
				if v.GetCorrect() || v.GetUnknown() || v.Probability == nil || v.GetProbability() != 0 {
					t.Errorf("a verdict is %v", v)
				}
			}
		})
	}
}

func TestTheGeneratorSeesTheVerdictsAndTheRunWhatItChanged(t *testing.T) {
	mesh := stagetest.New(t)
	run, err := ask(t.Context(), t, mesh,
		askOptions{method: "ger", options: withAblation(orchestratorv1.Ablation_ABLATION_GENERATOR_REFLECTS)})
	if err != nil {
		t.Fatal(err)
	}
	asked := stagetest.Requests[*generatorv1.GenerateCandidateAnswersRequest](mesh)
	if asked[0].GetFeedback() != nil || asked[1].GetFeedback().GetQuestion() == nil ||
		len(asked[1].GetFeedback().GetAnswers()) != 2 || len(asked[1].GetPaths()) != 3 {
		t.Errorf("asked for candidates by %v", asked)
	}
	var decided []string
	for _, r := range run.GetGer().GetReflections() {
		decided = append(decided, config.EnumName(r.GetDecision())+" "+r.GetAnswer())
	}
	if !slices.Equal(decided, []string{"drop Harn", "keep Tessen", "add Orla"}) ||
		len(run.GetGer().GetCandidates()) != 2 {
		t.Errorf("the run says %q", decided)
	}
}

func TestWithoutReflectionAndWithNothingJudgedRightThereIsNoAnswer(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *evaluatorv1.EvaluateAnswersRequest) (
		*evaluatorv1.EvaluateAnswersResponse,
		error) {
		return &evaluatorv1.EvaluateAnswersResponse{}, nil
	})
	run, err := ask(t.Context(), t, mesh,
		askOptions{method: "ger", options: withAblation(orchestratorv1.Ablation_ABLATION_NO_REFLECTION)})
	if err != nil || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED ||
		run.GetGroundingReason() != "no candidate was judged right" {
		t.Errorf("got %v (%s), %v", run.GetGrounding(), run.GetGroundingReason(), err)
	}
}

func TestAnAblationKeepsItsBudget(t *testing.T) {
	for _, m := range method.All(stagetest.New(t).Stages(t), gerConfig) {
		for _, a := range m.Info().GetAblations() {
			for calls := uint32(2); calls <= 5; calls++ {
				mesh := stagetest.New(t)
				run, err := ask(t.Context(), t, mesh, askOptions{method: m.Info().GetName(),
					limits: &llmv1.Budget{MaxCalls: calls}, options: withAblation(a)})
				if err != nil || run.GetUsage().GetCalls() > calls || len(run.GetAnswers()) == 0 {
					t.Errorf("%s %s: spent %d of %d calls, answered %q, %v", m.Info().GetName(), config.EnumName(a),
						run.GetUsage().GetCalls(), calls, names(run), err)
				}
			}
		}
	}
}
