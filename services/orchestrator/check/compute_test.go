package check

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// computed is the stages of a plan that fits and yields a table.
type computed struct {
	generatorv1.GeneratorServiceClient
	retrieverv1.RetrieverServiceClient
	verifierv1.VerifierServiceClient
	table *graphv1.QueryTable
}

var countPlan = &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{{Clause: &graphv1.QueryClause_Values{
	Values: &graphv1.QueryValues{Variable: "x", Entities: []string{"Brisk"}}}}}, Result: &graphv1.QueryResult{
	Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT, Variable: "x"}}

func (c computed) GenerateQueryPlan(context.Context, *generatorv1.GenerateQueryPlanRequest,
	...grpc.CallOption) (*generatorv1.GenerateQueryPlanResponse, error) {
	return &generatorv1.GenerateQueryPlanResponse{Plan: countPlan}, nil
}

func (c computed) ExploreQueryPlan(context.Context, *retrieverv1.ExploreQueryPlanRequest,
	...grpc.CallOption) (*retrieverv1.ExploreQueryPlanResponse, error) {
	return &retrieverv1.ExploreQueryPlanResponse{}, nil
}

func (c computed) AlignQueryPlan(context.Context, *verifierv1.AlignQueryPlanRequest,
	...grpc.CallOption) (*verifierv1.AlignQueryPlanResponse, error) {
	return &verifierv1.AlignQueryPlanResponse{Plan: countPlan, Confidence: 0.9}, nil
}

func (c computed) ExecuteQuery(context.Context, *retrieverv1.ExecuteQueryRequest,
	...grpc.CallOption) (*retrieverv1.ExecuteQueryResponse, error) {
	return &retrieverv1.ExecuteQueryResponse{Table: c.table}, nil
}

func TestAComputedClaimIsJudgedByACompleteTableAlone(t *testing.T) {
	row := func(name, value string) *graphv1.QueryRow {
		return &graphv1.QueryRow{Cells: []*graphv1.Entity{{Name: name}, {Name: value}}}
	}
	rows := []*graphv1.QueryRow{row("Brisk", "900"), row("Tessen", "40")}
	limits := []string{"10 triples were read"}
	five, best := operation{least: 5, most: 5}, operation{best: "Brisk", word: "largest"}
	const supported, contradicted = verifierv1.Verdict_VERDICT_SUPPORTED, verifierv1.Verdict_VERDICT_CONTRADICTED
	const unknown = verifierv1.Verdict_VERDICT_NOT_IN_KG
	for _, c := range []struct {
		name  string
		claim operation
		table *graphv1.QueryTable
		want  verifierv1.Verdict
	}{
		{"as many as claimed", five, &graphv1.QueryTable{Value: "5"}, supported},
		{"more than claimed", five, &graphv1.QueryTable{Value: "6"}, contradicted},
		{"fewer than claimed, of which there may be more", five, &graphv1.QueryTable{Value: "4"}, unknown},
		{"as many as claimed until a limit was reached", five,
			&graphv1.QueryTable{Value: "5", Limits: limits}, unknown},
		{"no number", five, &graphv1.QueryTable{Value: "five"}, unknown},
		{"the best", best, &graphv1.QueryTable{Rows: rows}, supported},
		{"the best until a limit was reached", best, &graphv1.QueryTable{Rows: rows, Limits: limits}, unknown},
		{"not the best", operation{best: "Tessen", word: "largest"}, &graphv1.QueryTable{Rows: rows}, contradicted},
		{"none of those compared", operation{best: "Orla", word: "largest"},
			&graphv1.QueryTable{Rows: rows}, unknown},
		{"nothing to compare", best, &graphv1.QueryTable{}, unknown},
		{"nothing to compare it with", best, &graphv1.QueryTable{Rows: rows[:1]}, unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			stages := computed{table: c.table}
			q := question.New(&orchestratorv1.AskRequest{}, &orchestratorv1.Run{}, noop.Tracer{}, nil)
			j, err := New(method.Stages{Generator: stages, Retriever: stages, Verifier: stages}).
				judgeOperation(t.Context(), q, c.claim)
			if err != nil || j.GetVerdict() != c.want {
				t.Errorf("%v (%s), %v; want %v", j.GetVerdict(), j.GetReason(), err, c.want)
			}
			if c.want == unknown && j.GetReason() == "" {
				t.Error("no reason is given")
			}
		})
	}
}

func TestASentenceIsPlannedWithinTheBudget(t *testing.T) {
	for _, c := range []struct {
		name  string
		spent uint32
		want  verifierv1.Verdict
	}{
		{"with a call left the graph decides", 1, verifierv1.Verdict_VERDICT_SUPPORTED},
		{"without one it stays open", 2, verifierv1.Verdict_VERDICT_NOT_IN_KG},
	} {
		t.Run(c.name, func(t *testing.T) {
			stages := computed{table: &graphv1.QueryTable{Value: "7"}}
			q := question.New(&orchestratorv1.AskRequest{Limits: &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 2}}},
				&orchestratorv1.Run{}, noop.Tracer{}, nil)
			spend := func(context.Context) (question.Cost, error) {
				return &orchestratorv1.StageReport{Usage: &llmv1.Usage{Calls: c.spent}}, nil
			}
			if err := q.Stage(t.Context(), orchestratorv1.Stage_STAGE_CLAIMS, spend); err != nil {
				t.Fatal(err)
			}
			f, err := New(method.Stages{Generator: stages, Retriever: stages, Verifier: stages}).
				JudgeComputed(t.Context(), q, "There are seven rooms.")
			if err != nil || f.Judgement.GetVerdict() != c.want || f.Judgement.GetReason() == "" {
				t.Errorf("judged %v, error %v; want %v", f, err, c.want)
			}
		})
	}
}
