package method_test

import (
	"context"
	"testing"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// writes scripts the model's answer to be a text.
func writes(m *stagetest.Mesh, text string) {
	stagetest.Script(m, func(context.Context, *generatorv1.GenerateAnswerRequest) (*generatorv1.GenerateAnswerResponse,
		error) {
		return &generatorv1.GenerateAnswerResponse{Text: text, Form: graphv1.AnswerForm_ANSWER_FORM_TEXT,
			Usage: stagetest.Usage()}, nil
	})
}

func TestATextIsAnAnswerWithoutAnswerEntities(t *testing.T) {
	for _, c := range []struct {
		name, method, text string
		want               orchestratorv1.Grounding
	}{
		{"what the fixed graph says", "pg-akv", "It was made by Erik Halvorsen.",
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"what the hits say, and more", "rag", "It was made by Erik Halvorsen. It won a prize.",
			orchestratorv1.Grounding_GROUNDING_PARTIAL},
		{"what the reasoning paths say", "rog", "The Tessen flows through it.",
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"what the model remembers", "io", "It was made by Erik Halvorsen.",
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED},
		{"nothing", "pg-akv", "", orchestratorv1.Grounding_GROUNDING_ABSTAINED},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			writes(mesh, c.text)
			run, err := ask(t.Context(), t, mesh, askOptions{method: c.method})
			if err != nil || run.GetGrounding() != c.want || run.GetText() != c.text || len(run.GetAnswers()) > 0 {
				t.Errorf("got %v (%s), %q, %v", run.GetGrounding(), run.GetGroundingReason(), run.GetText(), err)
			}
		})
	}
}

func TestTheFormIsPassedOn(t *testing.T) {
	text := graphv1.AnswerForm_ANSWER_FORM_TEXT
	for _, name := range []string{"pg-akv", "rag", "rog", "io", "cot", "sc"} {
		t.Run(name, func(t *testing.T) {
			mesh := stagetest.New(t)
			if _, err := ask(t.Context(), t, mesh,
				askOptions{method: name, options: &orchestratorv1.AskOptions{AnswerForm: text}}); err != nil {
				t.Fatal(err)
			}
			for _, req := range stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh) {
				if req.GetForm() != text {
					t.Errorf("answered in the form %v", req.GetForm())
				}
			}
			for _, req := range stagetest.Requests[*verifierv1.VerifyRequest](mesh) {
				if req.GetForm() != text {
					t.Errorf("verified in the form %v", req.GetForm())
				}
			}
		})
	}
}

// Calls within one stage share what is left.
func TestAStageOfSeveralCallsKeepsTheBudget(t *testing.T) {
	mesh := stagetest.New(t)
	choosy := &method.GerConfig{MaxPaths: 1, Choose: true, MaxCandidates: 5}
	run, err := ask(t.Context(), t, mesh, askOptions{method: "ger", ger: choosy, limits: plenty,
		options: &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_PATHS}})
	if run.GetUsage().GetCalls() != 2 {
		t.Fatalf("spent %v, %v", run.GetUsage(), err)
	}
	asked := stagetest.Requests[*generatorv1.GenerateRelationPathsRequest](mesh)
	for i, left := range []uint32{1000, 999} {
		if got := asked[i].GetLimits().GetBudget().GetMaxCalls(); got != left {
			t.Errorf("call %d may spend %d calls, want %d", i, got, left)
		}
	}
}
