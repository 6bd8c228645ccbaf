package method_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// rankBut scripts a model that ranks, but for one context fails.
func rankBut(mesh *stagetest.Mesh, about string, err error) {
	stagetest.Script(mesh, func(_ context.Context, req *evaluatorv1.RankCandidatesRequest) (
		*evaluatorv1.RankCandidatesResponse, error) {
		if req.GetContext() == about {
			return nil, err
		}
		return &evaluatorv1.RankCandidatesResponse{Ranked: stagetest.FirstBest(req), Usage: stagetest.Usage()}, nil
	})
}

func TestToGGoesOnWithoutAPruningThatFailed(t *testing.T) {
	two := append(slices.Clone(country), [3]string{"Skarn", "height", "900"})
	for _, c := range []struct {
		name, about string
		err         error
		code        codes.Code
		end         string
	}{
		{"entities that were not pruned count alike", "Velmora -> river", down, codes.OK, "Tessen"},
		{"an entity whose relations were not pruned is left out", "Skarn", down, codes.OK, "Tessen"},
		{"a question that cannot be asked is not gone on with", "Skarn", status.Error(codes.InvalidArgument, "bad"),
			codes.InvalidArgument, ""},
		{"nor entities that cannot be asked for", "Velmora -> river", status.Error(codes.InvalidArgument, "bad"),
			codes.InvalidArgument, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			two.Walk(mesh)
			rankBut(mesh, c.about, c.err)
			run, err := ask(t.Context(), t, mesh, askOptions{method: "tog", topics: []string{"Velmora", "Skarn"}})
			if status.Code(err) != c.code {
				t.Fatalf("ended with %v, want %v", err, c.code)
			}
			if err != nil {
				return
			}
			if got := kgtext.PathEnd(run.GetTog().GetReasoningPaths()[0]); got != c.end || run.GetPartial() {
				t.Errorf("found %q, partial %v", lines(run.GetTog().GetReasoningPaths()), run.GetPartial())
			}
			if !strings.Contains(fmt.Sprint(run.GetStages()), llm.WarnUnavailable) {
				t.Error("no stage warns of it")
			}
		})
	}
}

func TestToGCountsWhatFailedCallsSpent(t *testing.T) {
	ledger := llm.NewLedger(nil)
	ledger.Charge(stagetest.Usage())
	for _, c := range []struct {
		name string
		err  error
		// calls are what the first hop costs: a ranking of relations, what failed,
		// and, if it continues, a ranking of entities and a judgement.
		calls uint32
	}{
		{"a ranking that was done without", ledger.AttachUsage(down), 4},
		{"a ranking that ends the question", ledger.AttachUsage(status.Error(codes.InvalidArgument, "bad")), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			stagetest.Graph{{"Velmora", "river", "Tessen"}, {"Velmora", "river", "Orla"}, {"Velmora", "twin", "Harn"},
				{"Skarn", "height", "900"}, {"Skarn", "range", "Elde"}}.Walk(mesh)
			rankBut(mesh, "Skarn", c.err)
			run, _ := ask(t.Context(), t, mesh, askOptions{method: "tog", limits: plenty,
				topics: []string{"Velmora", "Skarn"}})
			if got := run.GetStages()[1].GetUsage().GetCalls(); got != c.calls {
				t.Errorf("the hop cost %d calls, want %d", got, c.calls)
			}
		})
	}
}

func TestToGRanksAtOnceUnlessABudgetIsShared(t *testing.T) {
	graph := stagetest.Graph{{"Velmora", "river", "Tessen"}, {"Velmora", "twin", "Harn"},
		{"Orla", "source", "Mount Elde"}, {"Orla", "mouth", "Harn"}}
	for _, c := range []struct {
		name   string
		limits *llmv1.Budget
		most   int
	}{{"no budget", nil, 2}, {"a budget", plenty, 1}} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			graph.Walk(mesh)
			underWay, both := make(chan struct{}, 2), make(chan struct{})
			stagetest.Script(mesh, func(ctx context.Context, req *evaluatorv1.RankCandidatesRequest) (
				*evaluatorv1.RankCandidatesResponse, error) {
				underWay <- struct{}{}
				defer func() { <-underWay }()
				if len(underWay) > c.most {
					t.Errorf("%d rankings at once", len(underWay))
				}
				if len(underWay) == 2 {
					close(both)
				}
				if c.most == 2 {
					<-both // where the other is not under way, the test does not end
				}
				return &evaluatorv1.RankCandidatesResponse{Ranked: stagetest.FirstBest(req), Usage: stagetest.Usage()},
					nil
			})
			run, err := ask(t.Context(), t, mesh, askOptions{method: "tog", limits: c.limits,
				topics: []string{"Velmora", "Orla"}})
			if err != nil || run.GetUsage().GetCalls() != 4 {
				t.Errorf("spent %v, %v; want 4 calls", run.GetUsage(), err)
			}
		})
	}
}

func TestToGUntilExploreGoesAllHops(t *testing.T) {
	_, run := explored(t, country, never,
		askOptions{options: &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_EXPLORE}})
	if got := stages(run); !slices.Equal(got, []string{"link", "explore", "explore", "explore"}) ||
		len(run.GetAnswers()) > 0 {
		t.Errorf("went through %q and answered %q", got, names(run))
	}
	mesh := stagetest.New(t)
	stagetest.Script(mesh, nothingLinked)
	run, err := ask(t.Context(), t, mesh,
		askOptions{method: "tog", options: &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_EXPLORE}})
	if !errors.Is(err, question.ErrStopped) || len(stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh)) > 0 {
		t.Errorf("with no topic entity ended with %v after %q", err, stages(run))
	}
}

func TestToGGivesACallerThatLeftNoPartialAnswer(t *testing.T) {
	mesh := stagetest.New(t)
	ctx, leave := context.WithCancel(t.Context())
	stagetest.Script(mesh, func(context.Context, *evaluatorv1.JudgeSufficiencyRequest) (
		*evaluatorv1.JudgeSufficiencyResponse, error) {
		leave()
		return nil, down
	})
	run, err := ask(ctx, t, mesh, askOptions{method: "tog"})
	if err == nil || run.GetPartial() || len(run.GetAnswers()) > 0 {
		t.Errorf("got %v, partial %v, %q", err, run.GetPartial(), names(run))
	}
}
