package method_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

func TestAutoChoosesByWhatTheQuestionAsksFor(t *testing.T) {
	planned := []string{"GenerateQueryPlan", "ExploreQueryPlan", "AlignQueryPlan", "ExecuteQuery"}
	unfit := func(m *stagetest.Mesh) { computes(m, &graphv1.QueryTable{Reason: "nothing fulfils it"}) }
	const lakes = "Which lakes lie in Velmora?"
	doubted := func(m *stagetest.Mesh) {
		computes(m, &graphv1.QueryTable{Value: "5", Total: 5})
		stagetest.Script(m, func(_ context.Context, req *verifierv1.AlignQueryPlanRequest) (
			*verifierv1.AlignQueryPlanResponse, error) {
			return &verifierv1.AlignQueryPlanResponse{Plan: req.GetPlan(), Confidence: .9, Reason: "another"}, nil
		})
	}
	for _, c := range []struct {
		name   string
		script func(*stagetest.Mesh)
		asks   askOptions
		chosen string
		why    string
		calls  []string
	}{
		{"a count is computed by query", nil, askOptions{method: "auto", text: "how many films did Velmora make"},
			"query", "computed", planned},
		{"a superlative that fits is computed", nil, askOptions{method: "auto", text: "what is the largest lake"},
			"query", "computed", planned},
		{"a superlative that does not fit is pg-akv's", unfit,
			askOptions{method: "auto", text: "what is the largest lake"}, "pg-akv", "pg-akv answers",
			append(slices.Clone(planned), "GroundGraph", "GeneratePseudoGraph")},
		{"a superlative is pg-akv's where the budget has no room for both", unfit,
			askOptions{method: "auto", text: "what is the largest lake", limits: &llmv1.Budget{MaxCalls: 2}}, "pg-akv",
			"budget of 2 calls", []string{"GroundGraph", "GeneratePseudoGraph"}},
		{"a list that is sure is computed", nil, askOptions{method: "auto", text: lakes}, "query",
			"asks for a list", planned},
		{"a doubtful one is pg-akv's", doubted, askOptions{method: "auto", text: lakes}, "pg-akv",
			"pg-akv answers", append(slices.Clone(planned), "GroundGraph", "GeneratePseudoGraph")},
		{"a list is pg-akv's where the budget has no room for both", nil,
			askOptions{method: "auto", text: lakes, limits: &llmv1.Budget{MaxCalls: 2}}, "pg-akv",
			"budget of 2 calls", []string{"GroundGraph", "GeneratePseudoGraph"}},
		{"a fact is checked by pg-akv", nil, askOptions{method: "auto"}, "pg-akv", "asks for facts",
			[]string{"GroundGraph", "GeneratePseudoGraph", "GroundGraph"}},
		{"several facts are pg-akv's", nil, askOptions{method: "auto", text: stagetest.Rivers}, "pg-akv",
			"asks for facts", []string{"GroundGraph", "GeneratePseudoGraph", "GroundGraph"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			if c.script != nil {
				c.script(mesh)
			}
			run, err := ask(t.Context(), t, mesh, c.asks)
			if err != nil {
				t.Fatal(err)
			}
			choice := run.GetChoice()
			if choice.GetMethod() != c.chosen || !strings.Contains(choice.GetReason(), c.why) {
				t.Errorf("chose %s because %s; want %s because of %q", choice.GetMethod(), choice.GetReason(),
					c.chosen, c.why)
			}
			if (run.GetQuery() != nil) != (c.chosen == "query") || (run.GetPgAkv() != nil) != (c.chosen == "pg-akv") {
				t.Errorf("graphs %v are not those of the method chosen", run.GetGraphs())
			}
			if calls := mesh.Calls(); len(calls) < len(c.calls) || !slices.Equal(calls[:len(c.calls)], c.calls) {
				t.Errorf("calls %q, want them to begin with %q", calls, c.calls)
			}
			if len(run.GetAnswers()) == 0 || run.GetStages()[0].GetStage() != orchestratorv1.Stage_STAGE_CHOOSE {
				t.Errorf("answers %v after stages %v", run.GetAnswers(), run.GetStages())
			}
		})
	}
}

func TestAutoRefusesACountThatCannotBeComputed(t *testing.T) {
	mesh := stagetest.New(t)
	computes(mesh, &graphv1.QueryTable{Reason: "nothing fulfils it"})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "auto", text: "how many films did Velmora make"})
	if err != nil || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED ||
		run.GetChoice().GetMethod() != "query" {
		t.Errorf("run %v, error %v; want it refused by query", run, err)
	}
}

func TestAutoStopsWhereTheMethodChosenLacksTheStage(t *testing.T) {
	run, err := ask(t.Context(), t, stagetest.New(t),
		askOptions{method: "auto", options: &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_PLAN}})
	if err == nil || run.GetChoice().GetMethod() != "pg-akv" || len(run.GetAnswers()) > 0 {
		t.Errorf("run %v, error %v; want none but the choice", run, err)
	}
}

func TestAutoDraftsWhereNoPathIsLikely(t *testing.T) {
	drafted := []string{"GeneratePseudoGraph", "GroundGraph", "Verify", "GenerateAnswer"}
	unsure := append([]string{"GroundGraph"}, drafted...)
	for _, c := range []struct {
		name        string
		text        string
		probability *float32
		options     *orchestratorv1.AskOptions
		pruned      bool
		calls       []string
	}{
		{"a likely path needs no draft", stagetest.Film, new(float32(0.7)), nil, false,
			[]string{"GroundGraph", "Verify", "GenerateAnswer", "Reflect"}},
		{"an unlikely one does", stagetest.Film, new(float32(0.69)), nil, false,
			append(slices.Clone(unsure), "Reflect")},
		{"one that no ranker knows does", stagetest.Film, nil, nil, false, append(slices.Clone(unsure), "Reflect")},
		{"a likely path whose facts are pruned does", stagetest.Film, new(float32(0.9)), nil, true,
			append(slices.Clone(unsure), "Reflect")},
		{"a text is written from what the draft found", stagetest.Film, new(float32(0.9)),
			&orchestratorv1.AskOptions{AnswerForm: graphv1.AnswerForm_ANSWER_FORM_TEXT}, false, drafted},
		{"so is one that the question asks for", "tell me about the quiet harbour", new(float32(0.9)), nil,
			false, append(slices.Clone(drafted), "Reflect")},
		{"who asks for a draft gets one", stagetest.Film, new(float32(0.9)),
			&orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_PSEUDO_GRAPH}, false, drafted[:1]},
		{"who asks for a draft to be corrected by the model gets one", stagetest.Film, new(float32(0.9)),
			&orchestratorv1.AskOptions{Verification: verifierv1.VerificationMode_VERIFICATION_MODE_EDITS},
			false, append(slices.Clone(drafted), "Reflect")},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			paths := []*graphv1.ReasoningPath{{Entities: []string{"The Quiet Harbour", stagetest.Director},
				Steps: []*graphv1.RelationStep{{Relation: "director"}}, Probability: c.probability}}
			stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.GroundGraphRequest) (
				*retrieverv1.GroundGraphResponse, error) {
				if req.GetQuestion() != c.text {
					t.Errorf("the retriever was asked %v", req)
				}
				resp := &retrieverv1.GroundGraphResponse{Paths: paths}
				if !c.pruned {
					resp.GroundGraph = &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{
						{Subject: "The Quiet Harbour"}}}
				}
				return resp, nil
			})
			stagetest.Script(mesh, func(context.Context, *reflectorv1.ReflectRequest) (
				*reflectorv1.ReflectResponse, error) {
				return &reflectorv1.ReflectResponse{Answers: []string{stagetest.Director}}, nil
			})
			run, err := ask(t.Context(), t, mesh, askOptions{method: "auto", text: c.text, options: c.options})
			if err != nil && !errors.Is(err, question.ErrStopped) {
				t.Fatal(err)
			}
			if calls := mesh.Calls(); !slices.Equal(calls, c.calls) {
				t.Errorf("calls %q, want %q", calls, c.calls)
			}
			if omits := strings.Contains(run.GetChoice().GetReason(), "no draft"); omits == drafts(run) {
				t.Errorf("drafted: %v, although %s", drafts(run), run.GetChoice())
			}
		})
	}
}

func drafts(run *orchestratorv1.Run) bool { return run.GetPgAkv().GetPseudoGraph() != nil }

func TestAutoSaysThatTheRetrieverIsDown(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *retrieverv1.GroundGraphRequest) (*retrieverv1.GroundGraphResponse,
		error) {
		return nil, down
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "auto"})
	if status.Code(err) != codes.Unavailable || len(mesh.Calls()) != 1 {
		t.Errorf("run %v, error %v after %q; want it to end with the first call", run, err, mesh.Calls())
	}
}
