package method_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/llm"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// stage is one call that can be made to fail or to hang.
type stage struct {
	method, name string
	fail         func(*stagetest.Mesh, error)
	hang         func(*stagetest.Mesh)
	// answers where the stage is lost; nil if the question fails with it.
	answers []string
	// whole: the method does without this stage.
	whole bool
}

func failAt[Req proto.Message](method, name string, whole bool, answers ...string) stage {
	return stage{method, name, stagetest.Fail[Req], stagetest.Hang[Req], answers, whole}
}

var lost = []stage{
	failAt[*generatorv1.GeneratePseudoGraphRequest]("pg-akv", "generate", false),
	failAt[*retrieverv1.GroundGraphRequest]("pg-akv", "ground", false),
	failAt[*verifierv1.VerifyRequest]("pg-akv", "verify", false, stagetest.Director),
	failAt[*generatorv1.GenerateAnswerRequest]("pg-akv", "answer", false, stagetest.Director),
	failAt[*retrieverv1.LinkEntitiesRequest]("ger", "link", false),
	failAt[*generatorv1.GenerateRelationPathsRequest]("ger", "propose", true, "Tessen", "Orla"),
	failAt[*retrieverv1.SuggestPathsRequest]("ger", "suggest", false),
	failAt[*retrieverv1.FollowPathsRequest]("ger", "follow", false),
	failAt[*generatorv1.GenerateCandidateAnswersRequest]("ger", "candidates", false, "Tessen", "Orla"),
	failAt[*evaluatorv1.EvaluateQuestionRequest]("ger", "evaluate the question", false, "Tessen"),
	failAt[*evaluatorv1.EvaluateAnswersRequest]("ger", "evaluate answers", false, "Harn", "Tessen"),
	failAt[*reflectorv1.ReflectRequest]("ger", "reflect", false, "Tessen"),
	failAt[*generatorv1.GenerateAnswerRequest]("io", "answer", false),
	failAt[*retrieverv1.SearchTriplesRequest]("rag", "search", false),
	failAt[*generatorv1.GenerateAnswerRequest]("rag", "answer", false, stagetest.Director),
	failAt[*retrieverv1.LinkEntitiesRequest]("rog", "link", false),
	failAt[*generatorv1.GenerateRelationPathsRequest]("rog", "plan", false),
	failAt[*retrieverv1.SearchRelationsRequest]("rog", "ground", false),
	failAt[*retrieverv1.FollowPathsRequest]("rog", "follow", false),
	failAt[*generatorv1.GenerateAnswerRequest]("rog", "answer", false, "Tessen", "Orla"),
	failAt[*generatorv1.GenerateAnswerRequest]("sc", "sample", false),
	failAt[*retrieverv1.LinkEntitiesRequest]("tog", "link", false),
	failAt[*retrieverv1.ListNeighboursRequest]("tog", "look around", false),
	failAt[*evaluatorv1.RankCandidatesRequest]("tog", "prune relations", false),
	failAt[*retrieverv1.FollowPathsRequest]("tog", "follow", false),
	failAt[*evaluatorv1.JudgeSufficiencyRequest]("tog", "judge", false, "Tessen", "Orla"),
	failAt[*generatorv1.GenerateAnswerRequest]("tog", "answer", false, "Tessen", "Orla"),
	failAt[*evaluatorv1.RankCandidatesRequest]("tog-r", "prune relations", false),
	failAt[*evaluatorv1.JudgeSufficiencyRequest]("tog-r", "judge", false, "Tessen", "Orla"),
}

func check(t *testing.T, s stage, run *orchestratorv1.Run, err error, code codes.Code) {
	t.Helper()
	if len(s.answers) == 0 {
		if status.Code(err) != code {
			t.Errorf("ended with %v, want %v", err, code)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names(run), s.answers) || run.GetPartial() == s.whole || run.GetText() == "" {
		t.Errorf("answered %q, partial %v; want %q, partial %v", names(run), run.GetPartial(), s.answers, !s.whole)
	}
	warnings := 0
	for _, r := range run.GetStages() {
		warnings += len(r.GetWarnings())
	}
	if warnings == 0 {
		t.Error("no stage warns of what was lost")
	}
	if !s.whole && !strings.Contains(run.GetGroundingReason(), "the run ended early") {
		t.Errorf("the reason does not say that the run ended early: %s", run.GetGroundingReason())
	}
}

func TestAStageThatIsDown(t *testing.T) {
	for _, s := range lost {
		t.Run(s.method+": "+s.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			s.fail(mesh, down)
			run, err := ask(t.Context(), t, mesh, askOptions{method: s.method})
			check(t, s, run, err, codes.Unavailable)
		})
	}
}

func TestAStageThatHangsEndsByTheDeadline(t *testing.T) {
	for _, s := range lost {
		if s.whole {
			continue // it takes the time of those after it too
		}
		t.Run(s.method+": "+s.name, func(t *testing.T) {
			t.Parallel()
			mesh := stagetest.New(t)
			s.hang(mesh)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			run, err := ask(ctx, t, mesh, askOptions{method: s.method})
			check(t, s, run, err, codes.DeadlineExceeded)
			if len(s.answers) > 0 && !strings.Contains(run.GetGroundingReason(), "the time ran out") {
				t.Errorf("the reason is %q", run.GetGroundingReason())
			}
		})
	}
}

func TestABudgetThatAStageFindsSpent(t *testing.T) {
	for _, s := range lost {
		t.Run(s.method+": "+s.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			s.fail(mesh, budgetError(t))
			if s.name == "generate" { // the question alone grounds
				s.answers, s.whole = []string{stagetest.Director}, true
			}
			run, err := ask(t.Context(), t, mesh, askOptions{method: s.method})
			check(t, s, run, err, codes.ResourceExhausted)
		})
	}
}

// Whatever the budget: no more is spent than it allows, and from the first
// retrieval on there is an answer.
func TestABudgetIsKept(t *testing.T) {
	for _, c := range []struct {
		method string
		enough uint32
	}{{"pg-akv", 3}, {"ger", 4}, {"rag", 1}, {"rog", 2}, {"sc", 3}, {"tog", 4},
		{"tog-r", 3}} { // weighing asks no model
		for calls := uint32(1); calls <= c.enough; calls++ {
			for unit, budget := range map[string]*llmv1.Budget{
				"calls": {MaxCalls: calls}, "tokens": {MaxTokens: uint64(15 * calls)},
			} {
				t.Run(fmt.Sprintf("%s with %s for %d calls", c.method, unit, calls), func(t *testing.T) {
					mesh := stagetest.New(t)
					run, err := ask(t.Context(), t, mesh, askOptions{method: c.method, limits: budget})
					if err != nil {
						t.Fatal(err)
					}
					if run.GetUsage().GetCalls() > calls || run.GetPartial() != (calls < c.enough) ||
						len(run.GetAnswers()) == 0 {
						t.Errorf("spent %d calls, partial %v, answered %q", run.GetUsage().GetCalls(), run.GetPartial(),
							names(run))
					}
					if run.GetPartial() && !strings.Contains(run.GetGroundingReason(), "the budget ran out") {
						t.Errorf("the reason is %q", run.GetGroundingReason())
					}
				})
			}
		}
	}
}

func TestWhatIsLeftOfABudgetIsPassedOn(t *testing.T) {
	mesh := stagetest.New(t)
	if _, err := ask(t.Context(), t, mesh,
		askOptions{method: "ger", limits: &llmv1.Budget{MaxCalls: 9, MaxTokens: 1000}}); err != nil {
		t.Fatal(err)
	}
	b := stagetest.Requests[*reflectorv1.ReflectRequest](mesh)[0].GetLimits().GetBudget()
	if b.GetMaxCalls() != 5 || b.GetMaxTokens() != 1000-4*15 {
		t.Errorf("reflection may spend %v, want 5 calls and 940 tokens", b)
	}
}

func TestBothLevelsAreJudgedAtOnceUnlessABudgetIsShared(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits *llmv1.Budget
		meet   chan struct{}
	}{{"no budget", nil, make(chan struct{})}, {"a budget", plenty, nil}} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			var underWay atomic.Int64
			stagetest.Script(mesh, func(context.Context, *evaluatorv1.EvaluateQuestionRequest) (
				*evaluatorv1.EvaluateQuestionResponse, error) {
				defer underWay.Add(-1)
				if n := underWay.Add(1); c.meet != nil {
					c.meet <- struct{}{} // where the other is not under way, the test does not end
				} else if n > 1 {
					t.Error("both levels spend one budget at once")
				}
				return &evaluatorv1.EvaluateQuestionResponse{Usage: stagetest.Usage()}, nil
			})
			stagetest.Script(mesh, func(context.Context, *evaluatorv1.EvaluateAnswersRequest) (
				*evaluatorv1.EvaluateAnswersResponse, error) {
				defer underWay.Add(-1)
				if n := underWay.Add(1); c.meet != nil {
					<-c.meet
				} else if n > 1 {
					t.Error("both levels spend one budget at once")
				}
				return &evaluatorv1.EvaluateAnswersResponse{Usage: stagetest.Usage()}, nil
			})
			run, err := ask(t.Context(), t, mesh, askOptions{method: "ger", limits: c.limits})
			if err != nil || run.GetUsage().GetCalls() != 5 {
				t.Errorf("spent %v, %v; want 5 calls", run.GetUsage(), err)
			}
		})
	}
}

func TestACallerThatLeavesGetsNoPartialAnswer(t *testing.T) {
	mesh := stagetest.New(t)
	ctx, leave := context.WithCancel(t.Context())
	stagetest.Script(mesh, func(ctx context.Context, _ *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
		leave()
		<-ctx.Done()
		return nil, down
	})
	run, err := ask(ctx, t, mesh, askOptions{method: "pg-akv"})
	if code := status.Code(err); err == nil || code == codes.OK || run.GetPartial() {
		t.Errorf("got %v, partial %v", err, run.GetPartial())
	}
}

func TestSpentBudgetsAreToldAsSuch(t *testing.T) {
	mesh := stagetest.New(t)
	run, err := ask(t.Context(), t, mesh, askOptions{method: "pg-akv", limits: &llmv1.Budget{MaxCalls: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if v := stagetest.Requests[*verifierv1.VerifyRequest](
		mesh)[0]; v.GetMode() != verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN {
		t.Errorf("verified by %v, though only alignment is free", v.GetMode())
	}
	last := run.GetStages()[len(run.GetStages())-1]
	if len(last.GetWarnings()) != 1 || last.GetWarnings()[0].GetCode() != llm.WarnBudget {
		t.Errorf("the last stage reports %v", last)
	}
}

func TestFailedStagesCountTheModelCallsBeforeTheFailure(t *testing.T) {
	failure, err := status.New(codes.Unavailable, "the model is down").WithDetails(stagetest.Usage())
	if err != nil {
		t.Fatal(err)
	}
	failedCall := failure.Err()
	for _, c := range []struct {
		name, method string
		fail         func(*stagetest.Mesh)
		calls        uint32 // of the run, by the scripts that succeed before and after
	}{
		{"ger: no paths can be suggested, so none are proposed", "ger",
			func(m *stagetest.Mesh) { stagetest.Fail[*retrieverv1.SuggestPathsRequest](m, down) }, 0},
		{"ger: no path can be followed after the proposal", "ger",
			func(m *stagetest.Mesh) { stagetest.Fail[*retrieverv1.FollowPathsRequest](m, down) }, 1},
		{"ger: the call of a proposal that failed costs too", "ger",
			func(m *stagetest.Mesh) { stagetest.Fail[*generatorv1.GenerateRelationPathsRequest](m, failedCall) }, 5},
		{"rog: no relation can be searched after the plan", "rog",
			func(m *stagetest.Mesh) { stagetest.Fail[*retrieverv1.SearchRelationsRequest](m, down) }, 1},
		{"rog: no path can be followed after the plan", "rog",
			func(m *stagetest.Mesh) { stagetest.Fail[*retrieverv1.FollowPathsRequest](m, down) }, 1},
		{"sc: the calls of samples that failed cost too", "sc",
			func(m *stagetest.Mesh) { stagetest.Fail[*generatorv1.GenerateAnswerRequest](m, failedCall) }, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			c.fail(mesh)
			run, _ := ask(t.Context(), t, mesh, askOptions{method: c.method, limits: plenty})
			if got := run.GetUsage().GetCalls(); got != c.calls {
				t.Errorf("the run counts %d calls, want %d", got, c.calls)
			}
		})
	}
}
