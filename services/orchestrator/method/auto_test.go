package method_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestAutoChoosesByWhatTheQuestionAsksFor(t *testing.T) {
	path := func(hops uint32) func(*stagetest.Mesh) {
		return func(m *stagetest.Mesh) {
			answer := relationPaths("river")
			answer[0].Hops, answer[0].TopicEntities = proto.Uint32(hops), []string{"Velmora"}
			stagetest.Script(m, func(context.Context,
				*retrieverv1.SuggestPathsRequest) (*retrieverv1.SuggestPathsResponse,
				error) {
				return &retrieverv1.SuggestPathsResponse{Paths: answer}, nil
			})
		}
	}
	nobody := func(m *stagetest.Mesh) {
		stagetest.Script(m, func(context.Context, *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse,
			error) {
			return &retrieverv1.LinkEntitiesResponse{}, nil
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
		{"several facts are joined by ger", path(2), askOptions{method: "auto", text: stagetest.Rivers}, "ger",
			"joins 2 facts",
			[]string{"LinkEntities", "SuggestPaths", "LinkEntities", "SuggestPaths", "GenerateRelationPaths"}},
		{"a count is computed by query", path(1), askOptions{method: "auto", text: "how many films did Velmora make"},
			"query",
			"computed", []string{"GenerateQueryPlan", "ExploreQueryPlan", "AlignQueryPlan", "ExecuteQuery"}},
		{"a superlative that fits is computed", path(1), askOptions{method: "auto", text: "what is the largest lake"},
			"query", "computed", []string{"GenerateQueryPlan", "ExploreQueryPlan", "AlignQueryPlan", "ExecuteQuery"}},
		{"a superlative that does not fit is pg-akv's", func(m *stagetest.Mesh) {
			computes(m, &graphv1.QueryTable{Reason: "nothing fulfils it"})
		}, askOptions{method: "auto", text: "what is the largest lake"}, "pg-akv", "pg-akv answers",
			[]string{"GenerateQueryPlan", "ExploreQueryPlan", "AlignQueryPlan", "ExecuteQuery", "GeneratePseudoGraph"}},
		{"one fact is checked by pg-akv", path(1), askOptions{method: "auto"}, "pg-akv", "a single fact",
			[]string{"LinkEntities", "SuggestPaths", "GeneratePseudoGraph", "GroundGraph"}},
		{"topic entities that are given are not linked", path(1),
			askOptions{method: "auto", topics: []string{"Velmora"}},
			"pg-akv", "a single fact",
			[]string{"BatchGetEntities", "SuggestPaths", "GeneratePseudoGraph"}},
		{"a question that names nobody is pg-akv's", nobody, askOptions{method: "auto"}, "pg-akv", "no relation path",
			[]string{"LinkEntities", "GeneratePseudoGraph"}},
		{"a small budget is pg-akv's", path(2), askOptions{method: "auto", limits: &llmv1.Budget{MaxCalls: 5}},
			"pg-akv",
			"budget of 5 calls",
			[]string{"GeneratePseudoGraph"}},
		{"a retriever that cannot tell is no reason to fail",
			func(m *stagetest.Mesh) { stagetest.Fail[*retrieverv1.SuggestPathsRequest](m, down) },
			askOptions{method: "auto"},
			"pg-akv", "could not be looked at: the stage is down", []string{"LinkEntities", "SuggestPaths",
				"GeneratePseudoGraph"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			c.script(mesh)
			run, err := ask(t.Context(), t, mesh, c.asks)
			if err != nil {
				t.Fatal(err)
			}
			auto := run.GetAuto()
			if auto.GetMethod() != c.chosen || !strings.Contains(auto.GetReason(), c.why) {
				t.Errorf("chose %s because %s; want %s because of %q", auto.GetMethod(), auto.GetReason(),
					c.chosen, c.why)
			}
			if (auto.GetGer() != nil) != (c.chosen == "ger") || (auto.GetPgAkv() != nil) != (c.chosen == "pg-akv") {
				t.Errorf("graphs %v are not those of the method chosen", auto)
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

func TestAutoStopsWhereTheMethodChosenLacksTheStage(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *retrieverv1.SuggestPathsRequest) (*retrieverv1.SuggestPathsResponse,
		error) {
		return &retrieverv1.SuggestPathsResponse{Paths: []*graphv1.RelationPath{
			{Steps: relationPaths("river")[0].GetSteps(),
				Hops: proto.Uint32(1)}}}, nil
	})
	run, err := ask(t.Context(), t, mesh,
		askOptions{method: "auto", options: &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_PATHS}})
	if err == nil || run.GetAuto().GetMethod() != "pg-akv" || len(run.GetAnswers()) > 0 {
		t.Errorf("run %v, error %v; want none but the choice", run, err)
	}
}
