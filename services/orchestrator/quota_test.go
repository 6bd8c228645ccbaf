package orchestrator_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
)

// quotaUsage is what a tenant has used by the name of the quota.
func quotaUsage(t *testing.T, resp *orchestratorv1.GetQuotaResponse, err error) map[string]float64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, q := range resp.GetQuotas() {
		all[q.GetName()] = q.GetUsed()
	}
	return all
}

func TestAQuotaIsATenantsOwn(t *testing.T) {
	mesh := stagetest.New(t)
	cfg := testConfig(t, mesh)
	cfg.Quotas = quota.Config{"acme": {QuestionsPerDay: 1}, quota.Everyone: {QuestionsPerDay: 3}}
	who := asking(t, &cfg, "acme/ci", "acme/anna", "globex/bob")
	client := serveWith(t, cfg)
	if _, err := client.Ask(who.as(t, "acme/ci"), film("pg-akv")); err != nil {
		t.Fatal(err)
	}
	before := len(mesh.Calls())
	_, err := client.Ask(who.as(t, "acme/anna"), film("pg-akv")) // another caller of the same tenant
	st := status.Convert(err)
	if st.Code() != codes.ResourceExhausted || len(mesh.Calls()) != before {
		t.Errorf("the second question ended with %v, after the calls %q", err, mesh.Calls()[before:])
	}
	var info *errdetails.ErrorInfo
	var retry *errdetails.RetryInfo
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			info = d
		case *errdetails.RetryInfo:
			retry = d
		}
	}
	if info.GetReason() != "QUOTA_EXCEEDED" || info.GetMetadata()["quota"] != "questions_per_day" ||
		retry.GetRetryDelay().AsDuration() <= 0 {
		t.Errorf("its details are %v", st.Details())
	}
	if _, err := client.Ask(who.as(t, "globex/bob"), film("pg-akv")); err != nil {
		t.Errorf("another tenant: %v", err)
	}

	resp, err := client.GetQuota(who.as(t, "acme/anna"), &orchestratorv1.GetQuotaRequest{})
	if got := quotaUsage(t, resp, err); got["questions_per_day"] != 1 || got["tokens_per_day"] != 45 ||
		got["concurrent_runs"] != 0 {
		t.Errorf("used are %v", got)
	}
	if resp.GetTenant() != "acme" || resp.GetSubject() != "anna" || !slices.Equal(resp.GetScopes(),
		[]authv1.Scope{authv1.Scope_SCOPE_ASK}) {
		t.Errorf("the caller is %v", resp)
	}
	day := resp.GetQuotas()[1]
	if at := day.GetResetTime().AsTime(); day.GetLimit() != 1 || at.Hour() != 0 || !at.After(time.Now()) {
		t.Errorf("the quota of a day is %v", day)
	}
}

func TestAQuotaSurvivesARestart(t *testing.T) {
	mesh := stagetest.New(t)
	cfg := testConfig(t, mesh)
	cfg.Quotas = quota.Config{quota.Everyone: {TokensPerDay: 40}}
	for i, want := range []codes.Code{codes.OK, codes.ResourceExhausted} {
		service := testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
			cfg := cfg
			cfg.Server.Listener = l
			return orchestrator.Run(ctx, cfg)
		})
		if _, err := orchestratorv1.NewOrchestratorServiceClient(service.Conn).Ask(t.Context(),
			film("pg-akv")); status.Code(err) != want {
			t.Errorf("question %d ended with %v, want %v", i, err, want)
		}
		service.Stop()
	}
}

func TestAQuestionIsHeldToWhatItsTenantHasLeft(t *testing.T) {
	mesh := stagetest.New(t)
	service, _ := localWith(t, mesh, quota.Config{quota.Everyone: {TokensPerDay: 100, CostUSDPerDay: 2}})
	req := film("pg-akv")
	req.Limits = &llmv1.Limits{Budget: &llmv1.Budget{MaxTokens: 90, MaxCalls: 7}}
	if _, err := service.Ask(anyCaller(t), req); err != nil {
		t.Fatal(err)
	}
	resp, err := service.Ask(anyCaller(t), film("pg-akv"))
	if err != nil {
		t.Fatal(err)
	}
	asked := stagetest.Requests[*generatorv1.GeneratePseudoGraphRequest](mesh)
	first, second := asked[0].GetLimits().GetBudget(), asked[1].GetLimits().GetBudget()
	if first.GetMaxTokens() != 90 || first.GetMaxCalls() != 7 || first.GetMaxCostUsd() != 2 ||
		second.GetMaxTokens() != 55 || second.GetMaxCalls() != 0 {
		t.Errorf("the budgets are %v and %v", first, second)
	}
	if resp.GetRun().GetPartial() {
		t.Errorf("there was enough for it, but it is partial: %v", resp.GetRun().GetStages())
	}
	// 10 tokens are left: the draft takes them, and the rest is done without.
	resp, err = service.Ask(anyCaller(t), film("pg-akv"))
	if err != nil || !resp.GetRun().GetPartial() {
		t.Errorf("got %v, %v, want a partial run", resp.GetRun(), err)
	}
	if _, err := service.Ask(anyCaller(t), film("pg-akv")); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("with nothing left: %v", err)
	}
}

func TestWhatAFailedQuestionSpentIsSpent(t *testing.T) {
	mesh := stagetest.New(t)
	ledger := llm.NewLedger(nil)
	ledger.Charge(&llmv1.Usage{Calls: 1, PromptTokens: 30})
	stagetest.Fail[*generatorv1.GeneratePseudoGraphRequest](mesh,
		ledger.AttachUsage(status.Error(codes.Unavailable, "down")))
	service, _ := local(t, mesh)
	if _, err := service.Ask(anyCaller(t), film("pg-akv")); status.Code(err) != codes.Unavailable {
		t.Fatalf("got %v", err)
	}
	resp, err := service.GetQuota(anyCaller(t), nil)
	if got := quotaUsage(t, resp, err); got["tokens_per_day"] != 30 || got["questions_per_day"] != 1 ||
		got["concurrent_runs"] != 0 {
		t.Errorf("used are %v", got)
	}
}

// panicking is a method that does nothing else.
type panicking struct{}

func (panicking) Info() *orchestratorv1.Method { return &orchestratorv1.Method{Name: "panicking"} }

func (panicking) Answer(context.Context, *question.Question) error { panic("method") }

func TestEveryWayOutLetsTheNextQuestionIn(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  func(t *testing.T, mesh *stagetest.Mesh, service *orchestrator.Service)
	}{
		{"an answer", func(t *testing.T, _ *stagetest.Mesh, s *orchestrator.Service) {
			if _, err := s.Ask(anyCaller(t), film("io")); err != nil {
				t.Error(err)
			}
		}},
		{"an unknown knowledge graph", func(t *testing.T, _ *stagetest.Mesh, s *orchestrator.Service) {
			req := film("pg-akv")
			req.Kg.Name = "nowhere"
			if _, err := s.Ask(anyCaller(t), req); status.Code(err) != codes.NotFound {
				t.Error(err)
			}
		}},
		{"a failing stage", func(t *testing.T, mesh *stagetest.Mesh, s *orchestrator.Service) {
			stagetest.Fail[*generatorv1.GeneratePseudoGraphRequest](mesh, status.Error(codes.Unavailable, "down"))
			if _, err := s.Ask(anyCaller(t), film("pg-akv")); err == nil {
				t.Error("it was answered")
			}
		}},
		{"a caller who leaves", func(t *testing.T, mesh *stagetest.Mesh, s *orchestrator.Service) {
			ctx, leave := context.WithCancel(anyCaller(t))
			stagetest.Script(mesh, func(ctx context.Context, _ *generatorv1.GeneratePseudoGraphRequest) (
				*generatorv1.GeneratePseudoGraphResponse, error) {
				leave()
				<-ctx.Done()
				return nil, ctx.Err()
			})
			if _, err := s.Ask(ctx, film("pg-akv")); err == nil {
				t.Error("it was answered")
			}
		}},
		{"a panic", func(t *testing.T, _ *stagetest.Mesh, s *orchestrator.Service) {
			defer func() {
				if recover() == nil {
					t.Error("it did not panic")
				}
			}()
			_, _ = s.Ask(anyCaller(t), &orchestratorv1.AskRequest{Question: "?", Method: "panicking"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			service, _ := localWith(t, mesh, quota.Config{quota.Everyone: {ConcurrentRuns: 1}}, panicking{})
			c.ask(t, mesh, service)
			if _, err := service.Ask(anyCaller(t), &orchestratorv1.AskRequest{Question: "?",
				Method: "io"}); err != nil {
				t.Errorf("the next question: %v", err)
			}
		})
	}
}

func TestAQuestionIsUnderWayUntilItsStreamEnds(t *testing.T) {
	mesh := stagetest.New(t)
	cfg := testConfig(t, mesh)
	cfg.Quotas = quota.Config{quota.Everyone: {ConcurrentRuns: 1}}
	client := serveWith(t, cfg)
	goOn := make(chan struct{})
	stagetest.Script(mesh, func(context.Context, *generatorv1.GeneratePseudoGraphRequest) (
		*generatorv1.GeneratePseudoGraphResponse, error) {
		<-goOn
		return nil, status.Error(codes.Unavailable, "down")
	})
	stream, err := client.AskStream(t.Context(), &orchestratorv1.AskStreamRequest{Request: film("pg-akv")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil { // the first stage began
		t.Fatal(err)
	}
	if _, err := client.Ask(t.Context(), film("io")); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("beside it: %v", err)
	}
	close(goOn)
	for err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		t.Error("the stream ended well")
	}
	if _, err := client.Ask(t.Context(), film("io")); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func TestNobodyAsksNothing(t *testing.T) {
	service, _ := local(t, stagetest.New(t))
	for name, ctx := range map[string]context.Context{
		"a context without a caller": t.Context(),
		"a caller without a tenant":  auth.WithCaller(t.Context(), auth.Caller{Subject: "stage"}),
	} {
		_, asked := service.Ask(ctx, film("pg-akv"))
		_, got := service.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: "x"})
		_, listed := service.ListRuns(ctx, &orchestratorv1.ListRunsRequest{})
		_, quotas := service.GetQuota(ctx, &orchestratorv1.GetQuotaRequest{})
		for _, err := range []error{asked, got, listed, quotas} {
			if !errors.Is(err, auth.ErrNoTenant) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestWhatTenantsUseIsMeasured(t *testing.T) {
	acme, err := auth.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	service, scrape := measured(t, stagetest.New(t), quota.Config{quota.Everyone: {QuestionsPerDay: 1}})
	ctx := auth.WithCaller(t.Context(), auth.Caller{Tenant: acme})
	for _, want := range []codes.Code{codes.OK, codes.ResourceExhausted} {
		if _, err := service.Ask(ctx, film("pg-akv")); status.Code(err) != want {
			t.Fatalf("got %v, want %v", err, want)
		}
	}
	page := scrape()
	for name, want := range map[string]string{
		"triplemesh_orchestrator_questions_total": "1",
		"triplemesh_orchestrator_tokens_total":    "45",
		"triplemesh_orchestrator_cost_USD_total":  "0",
		"triplemesh_orchestrator_refusals_total":  "1",
		"triplemesh_orchestrator_running":         "0",
	} {
		found := false
		for line := range strings.Lines(page) {
			found = found || strings.HasPrefix(line, name+"{") && strings.Contains(line, `triplemesh_tenant="acme"`) &&
				strings.HasSuffix(line, " "+want+"\n")
		}
		if !found {
			t.Errorf("there is no %s of acme with %s in\n%s", name, want, page)
		}
	}
	if !strings.Contains(page, `quota="questions_per_day"`) {
		t.Error("a refusal does not tell the quota")
	}
}

func TestTheSpanOfAQuestionHasItsTenant(t *testing.T) {
	req := film("pg-akv")
	req.Options = &orchestratorv1.AskOptions{Spans: true}
	resp, err := serve(t, stagetest.New(t)).Ask(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for _, span := range resp.GetRun().GetSpans() {
		if span.GetAttributes()["triplemesh.tenant"] == "default" {
			return
		}
	}
	t.Errorf("no span has it: %v", resp.GetRun().GetSpans())
}
