package orchestrator_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/llm"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

const followUp = "and who directed it?"

// following asks after a film that was spoken of before.
func following() *orchestratorv1.AskRequest {
	req := film("pg-akv")
	req.Question = followUp
	req.History = []*generatorv1.Turn{
		{Role: generatorv1.Role_ROLE_USER, Text: "which film is set in a harbour"},
		{Role: generatorv1.Role_ROLE_ASSISTANT, Text: "{The Quiet Harbour}"},
	}
	return req
}

// rewrites scripts a generator that knows what the question means.
func rewrites(mesh *stagetest.Mesh) {
	stagetest.Script(mesh, func(context.Context, *generatorv1.RewriteQuestionRequest) (
		*generatorv1.RewriteQuestionResponse,
		error) {
		return &generatorv1.RewriteQuestionResponse{Question: stagetest.Film, Changed: true, Usage: stagetest.Usage()},
			nil
	})
}

// budgetError is how a generator says that its budget is.
func budgetError(t *testing.T) error {
	t.Helper()
	st, err := status.New(codes.ResourceExhausted,
		"budget spent").WithDetails(
		&errdetails.ErrorInfo{Reason: errinfo.Name(errorsv1.ErrorReason_ERROR_REASON_BUDGET_EXHAUSTED)})
	if err != nil {
		t.Fatal(err)
	}
	return st.Err()
}

func TestAFollowUpIsAnsweredAsAQuestionThatStandsAlone(t *testing.T) {
	mesh := stagetest.New(t)
	rewrites(mesh)
	told, err := listen(t, serve(t, mesh), following())
	if err != nil {
		t.Fatal(err)
	}
	run := told.last
	if run.GetQuestion() != followUp || run.GetStandaloneQuestion() != stagetest.Film {
		t.Errorf("the run holds %q and %q", run.GetQuestion(), run.GetStandaloneQuestion())
	}
	if got := stagetest.Requests[*generatorv1.RewriteQuestionRequest](mesh); len(got) != 1 ||
		got[0].GetQuestion() != followUp || len(got[0].GetHistory()) != 2 {
		t.Errorf("the generator was asked to rewrite %v", got)
	}
	if got := stagetest.Requests[*generatorv1.GeneratePseudoGraphRequest](
		mesh)[0].GetQuestion(); got != stagetest.Film {
		t.Errorf("the facts were drafted for %q", got)
	}
	if !slices.Equal(told.events[:2], []string{"start rewrite", "finish rewrite"}) || run.GetUsage().GetCalls() != 4 {
		t.Errorf("told %q, at a cost of %v", told.events, run.GetUsage())
	}
}

func TestAQuestionThatStandsAloneIsLeftAsItIs(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(_ context.Context, req *generatorv1.RewriteQuestionRequest) (
		*generatorv1.RewriteQuestionResponse, error) {
		return &generatorv1.RewriteQuestionResponse{Question: req.GetQuestion()}, nil
	})
	client := serve(t, mesh)
	for name, req := range map[string]*orchestratorv1.AskRequest{"after others": following(),
		"before all others": film("pg-akv")} {
		t.Run(name, func(t *testing.T) {
			resp, err := client.Ask(t.Context(), req)
			if err != nil || resp.GetRun().GetStandaloneQuestion() != "" ||
				resp.GetRun().GetQuestion() != req.GetQuestion() {
				t.Errorf("got %v, %v", resp, err)
			}
		})
	}
	if n := len(stagetest.Requests[*generatorv1.RewriteQuestionRequest](mesh)); n != 1 {
		t.Errorf("the generator was asked %d times, want only after others", n)
	}
}

func TestAGeneratorThatCannotRewriteLeavesTheQuestionAsItWas(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		warn string
	}{
		{"its model is down", status.Error(codes.Unavailable, "the model is down"), llm.WarnUnavailable},
		{"its budget is spent", budgetError(t), llm.WarnBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			stagetest.Fail[*generatorv1.RewriteQuestionRequest](mesh, c.err)
			resp, err := serve(t, mesh).Ask(t.Context(), following())
			if err != nil || len(resp.GetRun().GetAnswers()) == 0 || resp.GetRun().GetStandaloneQuestion() != "" {
				t.Fatalf("got %v, %v", resp, err)
			}
			if w := resp.GetRun().GetStages()[0].GetWarnings(); len(w) != 1 || w[0].GetCode() != c.warn {
				t.Errorf("warned of %v, want %s", w, c.warn)
			}
		})
	}
	mesh := stagetest.New(t)
	stagetest.Fail[*generatorv1.RewriteQuestionRequest](mesh, status.Error(codes.InvalidArgument, "history: no"))
	if _, err := serve(t, mesh).Ask(t.Context(), following()); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a history that cannot be gave %v", err)
	}
}

func TestTheRewritingIsPaidOutOfTheQuestionsBudget(t *testing.T) {
	mesh := stagetest.New(t)
	rewrites(mesh)
	req := following()
	req.Limits = &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 1}}
	resp, err := serve(t, mesh).Ask(t.Context(), req)
	if err != nil || resp.GetRun().GetUsage().GetCalls() != 1 || !resp.GetRun().GetPartial() {
		t.Errorf("got %v, %v; want a partial run of one call", resp, err)
	}
}

func TestAskingUntilTheQuestionIsRewritten(t *testing.T) {
	mesh := stagetest.New(t)
	rewrites(mesh)
	client := serve(t, mesh)
	req := following()
	req.Options = &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_REWRITE}
	resp, err := client.Ask(t.Context(), req)
	if err != nil || resp.GetRun().GetStandaloneQuestion() != stagetest.Film || len(resp.GetRun().GetStages()) != 1 {
		t.Errorf("got %v, %v", resp, err)
	}
	req.History = nil
	if _, err := client.Ask(t.Context(), req); status.Code(err) != codes.InvalidArgument ||
		!strings.Contains(err.Error(), "has no stage rewrite") {
		t.Errorf("without a conversation: %v", err)
	}
}
