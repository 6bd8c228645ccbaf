package method_test

import (
	"slices"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestAutoChoosesByWhatTheQuestionAsksFor(t *testing.T) {
	planned := []string{"GenerateQueryPlan", "ExploreQueryPlan", "AlignQueryPlan", "ExecuteQuery"}
	unfit := func(m *stagetest.Mesh) { computes(m, &graphv1.QueryTable{Reason: "nothing fulfils it"}) }
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
			append(slices.Clone(planned), "GeneratePseudoGraph")},
		{"a superlative is pg-akv's where the budget has no room for both", unfit,
			askOptions{method: "auto", text: "what is the largest lake", limits: &llmv1.Budget{MaxCalls: 2}}, "pg-akv",
			"budget of 2 calls", []string{"GeneratePseudoGraph"}},
		{"a fact is checked by pg-akv", nil, askOptions{method: "auto"}, "pg-akv", "asks for facts",
			[]string{"GeneratePseudoGraph", "GroundGraph"}},
		{"several facts are pg-akv's", nil, askOptions{method: "auto", text: stagetest.Rivers}, "pg-akv",
			"asks for facts", []string{"GeneratePseudoGraph", "GroundGraph"}},
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
