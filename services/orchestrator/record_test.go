package orchestrator_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	settings "github.com/triplemesh/triplemesh/internal/config"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

func TestRunsAreKeptAndListed(t *testing.T) {
	client := serve(t, stagetest.New(t))
	asked, err := client.Ask(t.Context(), film("pg-akv"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Ask(t.Context(), rivers()); err != nil {
		t.Fatal(err)
	}
	kept, err := client.GetRun(t.Context(), &orchestratorv1.GetRunRequest{Id: asked.GetRun().GetId()})
	if err != nil || !proto.Equal(kept.GetRun(), asked.GetRun()) {
		t.Errorf("kept %v, %v; want what was answered", kept, err)
	}
	for _, c := range []struct {
		name string
		req  *orchestratorv1.ListRunsRequest
		want []string
		more bool
	}{
		{"all, newest first", &orchestratorv1.ListRunsRequest{}, []string{"ger", "pg-akv"}, false},
		{"a page", &orchestratorv1.ListRunsRequest{PageSize: 1}, []string{"ger"}, true},
		{"a method's", &orchestratorv1.ListRunsRequest{Method: "pg-akv"}, []string{"pg-akv"}, false},
		{"a knowledge graph's that has none", &orchestratorv1.ListRunsRequest{KgName: "idle"}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := client.ListRuns(t.Context(), c.req)
			if err != nil || len(resp.GetRuns()) != len(c.want) || (resp.GetNextPageToken() != "") != c.more {
				t.Fatalf("got %v, %v", resp, err)
			}
			for i, r := range resp.GetRuns() {
				if r.GetMethod() != c.want[i] {
					t.Errorf("run %d is of %s, want %s", i, r.GetMethod(), c.want[i])
				}
			}
		})
	}
	first, err := client.ListRuns(t.Context(), &orchestratorv1.ListRunsRequest{PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	second, err := client.ListRuns(t.Context(), &orchestratorv1.ListRunsRequest{PageSize: 1,
		PageToken: first.GetNextPageToken()})
	if err != nil || second.GetRuns()[0].GetMethod() != "pg-akv" || second.GetNextPageToken() != "" {
		t.Errorf("the second page is %v, %v", second, err)
	}
	for _, token := range []string{"Z", "*", strings.Repeat("Z", 26)} {
		if _, err := client.ListRuns(t.Context(),
			&orchestratorv1.ListRunsRequest{PageToken: token}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("the page token %q: %v, want InvalidArgument", token, err)
		}
	}
	if _, err := client.GetRun(t.Context(),
		&orchestratorv1.GetRunRequest{Id: "none"}); status.Code(err) != codes.NotFound {
		t.Errorf("an unknown run gave %v", err)
	}
}

// count is how many runs are kept.
func count(t *testing.T, db *runs.Keeper) int {
	t.Helper()
	kept, err := db.Tenant(auth.DefaultTenant())
	if err != nil {
		t.Fatal(err)
	}
	page, _, err := kept.List(t.Context(), 100, "", runs.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return len(page)
}

func TestWhichRunsAreKept(t *testing.T) {
	for _, c := range []struct {
		name   string
		script func(*stagetest.Mesh, *orchestratorv1.AskRequest, context.CancelFunc)
		kept   int
		code   codes.Code
	}{
		{"an answered question is kept", func(*stagetest.Mesh, *orchestratorv1.AskRequest, context.CancelFunc) {}, 1,
			codes.OK},
		{"one that stopped where it was asked to is kept", func(_ *stagetest.Mesh, r *orchestratorv1.AskRequest,
			_ context.CancelFunc) {
			r.Options = &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_VERIFY}
		}, 1, codes.OK},
		{"one that asked not to be kept is not", func(_ *stagetest.Mesh, r *orchestratorv1.AskRequest,
			_ context.CancelFunc) {
			r.Options = &orchestratorv1.AskOptions{NoRecord: true}
		}, 0, codes.OK},
		{"one that failed is not", func(m *stagetest.Mesh, _ *orchestratorv1.AskRequest, _ context.CancelFunc) {
			stagetest.Fail[*generatorv1.GeneratePseudoGraphRequest](m, status.Error(codes.Unavailable, "down"))
		}, 0, codes.Unavailable},
		{"one whose caller left in the middle is not", func(m *stagetest.Mesh, _ *orchestratorv1.AskRequest,
			leave context.CancelFunc) {
			stagetest.Script(m, func(ctx context.Context, _ *generatorv1.GenerateAnswerRequest) (
				*generatorv1.GenerateAnswerResponse, error) {
				leave()
				<-ctx.Done()
				return nil, ctx.Err()
			})
		}, 0, codes.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh, req := stagetest.New(t), film("pg-akv")
			service, db := local(t, mesh)
			ctx, leave := context.WithCancel(anyCaller(t))
			defer leave()
			c.script(mesh, req, leave)
			_, err := service.Ask(ctx, req)
			if code := status.Code(err); code != c.code && !(c.code == codes.Canceled &&
				errors.Is(err, context.Canceled)) {
				t.Errorf("ended with %v, want %v", err, c.code)
			}
			if n := count(t, db); n != c.kept {
				t.Errorf("%d runs kept, want %d", n, c.kept)
			}
		})
	}
}

func TestAnAnswerIsWorthMoreThanItsRecord(t *testing.T) {
	service, db := local(t, stagetest.New(t))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if resp, err := service.Ask(anyCaller(t), film("pg-akv")); err != nil || len(resp.GetRun().GetAnswers()) == 0 {
		t.Errorf("got %v, %v", resp, err)
	}
	if _, err := service.GetRun(anyCaller(t), &orchestratorv1.GetRunRequest{Id: "x"}); err == nil {
		t.Error("a run was read from a closed database")
	}
	if _, err := service.ListRuns(anyCaller(t), &orchestratorv1.ListRunsRequest{}); err == nil {
		t.Error("runs were listed from a closed database")
	}
}

func TestRunRefusesADatabaseThatIsNone(t *testing.T) {
	cfg := testConfig(t, stagetest.New(t))
	if err := os.WriteFile(cfg.Runs.File, []byte(strings.Repeat("not a database", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := orchestrator.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), cfg.Runs.File) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*orchestrator.Config)
		ok     bool
	}{
		{"the defaults are valid", func(*orchestrator.Config) {}, true},
		{"no file for runs", func(c *orchestrator.Config) { c.Runs.File = "" }, false},
		{"a directory for runs", func(c *orchestrator.Config) { c.Runs.File, c.Runs.Dir = "", "runs" }, true},
		{"fewer than no runs", func(c *orchestrator.Config) { c.Runs.Keep = -1 }, false},
		{"no paths", func(c *orchestrator.Config) { c.Ger.MaxPaths = 0 }, false},
		{"more paths than a call carries", func(c *orchestrator.Config) { c.Ger.MaxPaths = 65 }, false},
		{"no candidates", func(c *orchestrator.Config) { c.Ger.MaxCandidates = 0 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := orchestrator.DefaultConfig()
			c.change(&cfg)
			if err := cfg.Validate(); (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestQuotasAreReadFromTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "triplemesh.yaml")
	read := func(text string) (orchestrator.Config, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return settings.Load("orchestrator", orchestrator.DefaultConfig(), settings.Sources{File: file})
	}
	text := `orchestrator: {runs: {dir: /runs}, quotas: {"*": {questions_per_minute: 30, concurrent_runs: 4},
		acme: {tokens_per_day: 2000000, cost_usd_per_day: 2.5, questions_per_day: 9}}}`
	want := quota.Config{"*": {QuestionsPerMinute: 30, ConcurrentRuns: 4}, "acme": {TokensPerDay: 2_000_000,
		CostUSDPerDay: 2.5, QuestionsPerDay: 9}}
	cfg, err := read(text)
	if err != nil || !maps.Equal(cfg.Quotas, want) || cfg.Runs.Dir != "/runs" {
		t.Fatalf("got %+v, %v", cfg.Quotas, err)
	}
	var printed strings.Builder
	if err := settings.Print(&printed, "orchestrator", orchestrator.DefaultConfig(),
		settings.Sources{File: file}); err != nil {
		t.Fatal(err)
	}
	if again, err := read(printed.String()); err != nil || !maps.Equal(again.Quotas, want) {
		t.Errorf("what was printed is read as %+v, %v:\n%s", again.Quotas, err, printed.String())
	}
	for bad, says := range map[string]string{
		`orchestrator: {quotas: {Acme: {}}}`:                        `quotas: tenant "Acme"`,
		`orchestrator: {quotas: {acme: {cost_usd_per_day: -1}}}`:    "quotas: acme: cost_usd_per_day",
		`orchestrator: {quotas: {acme: {questions_per_hour: 1}}}`:   "questions_per_hour",
		`orchestrator: {quotas: {acme: {questions_per_day: lots}}}`: "questions_per_day",
	} {
		if _, err := read(bad); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("of %s the error is %v, want it to say %q", bad, err, says)
		}
	}
}
