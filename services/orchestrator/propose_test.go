package orchestrator_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
)

// reads has the generator read two claims off whatever it is given, one of them
// denied.
func reads(mesh *stagetest.Mesh) {
	stagetest.Script(mesh, func(context.Context, *generatorv1.ExtractClaimsRequest) (*generatorv1.ExtractClaimsResponse,
		error) {
		return &generatorv1.ExtractClaimsResponse{
			Claims: []*generatorv1.ExtractedClaim{
				{Triple: stagetest.Triple("Ada", "wrote", "Notes"), Span: &graphv1.TextSpan{Start: 4, End: 19}},
				{Triple: stagetest.Triple("Ada", "built", "the engine"), Negated: true},
			},
			Usage: stagetest.Usage(), Warnings: []*llmv1.Warning{{Message: "a claim was left out"}},
		}, nil
	})
}

func TestTriplesAreProposedOfWhatAPassageStates(t *testing.T) {
	mesh := stagetest.New(t)
	reads(mesh)
	resp, err := serve(t, mesh).ProposeTriples(t.Context(), &orchestratorv1.ProposeTriplesRequest{
		Text: "She wrote Notes.", Context: "Ada.", Limits: &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 3},
			Model: &llmv1.ModelRef{Model: "small"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.GetTriples()) != 1 || resp.GetTriples()[0].GetTriple().GetObject() != "Notes" ||
		resp.GetTriples()[0].GetSpan().GetEnd() != 19 {
		t.Errorf("proposed are %v", resp.GetTriples())
	}
	if resp.GetUsage().GetCalls() != 1 || len(resp.GetWarnings()) != 1 {
		t.Errorf("usage %v, warnings %v", resp.GetUsage(), resp.GetWarnings())
	}
	asked := stagetest.Requests[*generatorv1.ExtractClaimsRequest](mesh)
	if len(asked) != 1 || asked[0].GetText() != "She wrote Notes." || asked[0].GetContext() != "Ada." ||
		asked[0].GetLimits().GetBudget().GetMaxCalls() != 3 || asked[0].GetLimits().GetModel().GetModel() != "small" {
		t.Errorf("the generator was asked %v", asked)
	}
	if calls := mesh.Calls(); slices.ContainsFunc(calls, func(c string) bool { return c != calls[0] }) {
		t.Errorf("other stages were called too: %q", calls)
	}
}

func TestAPassageIsRefusedWhereItHasNoText(t *testing.T) {
	_, err := serve(t, stagetest.New(t)).ProposeTriples(t.Context(), &orchestratorv1.ProposeTriplesRequest{})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v", err)
	}
}

func TestAPassageCountsAgainstQuotas(t *testing.T) {
	mesh := stagetest.New(t)
	reads(mesh)
	service, _ := localWith(t, mesh, quota.Config{quota.Everyone: {QuestionsPerDay: 2, ConcurrentRuns: 1}})
	req := &orchestratorv1.ProposeTriplesRequest{Text: "Ada wrote Notes."}
	if _, err := service.ProposeTriples(anyCaller(t), req); err != nil {
		t.Fatal(err)
	}
	ledger := llm.NewLedger(nil)
	ledger.Charge(&llmv1.Usage{Calls: 1, PromptTokens: 30})
	stagetest.Fail[*generatorv1.ExtractClaimsRequest](mesh, ledger.AttachUsage(status.Error(codes.Unavailable, "down")))
	if _, err := service.ProposeTriples(anyCaller(t), req); status.Code(err) != codes.Unavailable {
		t.Errorf("of a model that is down: %v", err)
	}
	if _, err := service.ProposeTriples(anyCaller(t), req); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("with nothing left: %v", err)
	}
	resp, err := service.GetQuota(anyCaller(t), nil)
	if got := quotaUsage(t, resp, err); got["questions_per_day"] != 2 || got["tokens_per_day"] != 45 ||
		got["concurrent_runs"] != 0 {
		t.Errorf("used are %v", got)
	}
	if _, err := service.ProposeTriples(t.Context(), req); err == nil {
		t.Error("nobody may propose")
	}
}
