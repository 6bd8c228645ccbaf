package method_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/config"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// A generous budget, with which ger evaluates one level after the other.
var plenty = &llmv1.Budget{MaxCalls: 1000}

func TestCallsInTheOrderOfThePaper(t *testing.T) {
	for _, c := range []struct {
		name      string
		asks      askOptions
		calls     []string
		answers   []string
		grounding orchestratorv1.Grounding
		spent     uint32
	}{
		{"pg-akv: generate, ground, verify, answer", askOptions{method: "pg-akv"},
			[]string{"GeneratePseudoGraph", "GroundGraph", "Verify", "GenerateAnswer"},
			[]string{stagetest.Director}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 3},
		{"pg-akv by alignment spends a call less", askOptions{method: "pg-akv",
			options: &orchestratorv1.AskOptions{Verification: verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN}},
			[]string{"GeneratePseudoGraph", "GroundGraph", "Verify", "GenerateAnswer"},
			[]string{stagetest.Director}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 2},
		{"ger: link, plan and follow paths, read candidates, judge both levels, reflect",
			askOptions{method: "ger", limits: plenty},
			[]string{"LinkEntities", "SuggestPaths", "GenerateRelationPaths", "SuggestPaths", "FollowPaths",
				"GenerateCandidateAnswers", "GetReflectionMode", "EvaluateQuestion", "EvaluateAnswers", "Reflect"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 5},
		{"ger links nothing where the topic entities are given", askOptions{method: "ger", limits: plenty,
			topics: []string{"Velmora"}},
			[]string{"BatchGetEntities", "SuggestPaths", "GenerateRelationPaths", "SuggestPaths", "FollowPaths",
				"GenerateCandidateAnswers", "GetReflectionMode", "EvaluateQuestion", "EvaluateAnswers", "Reflect"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 5},
		{"ger may let the model choose among the paths there are", askOptions{method: "ger", limits: plenty,
			ger: &method.GerConfig{MaxPaths: 1, Choose: true, MaxCandidates: 5}},
			[]string{"LinkEntities", "SuggestPaths", "GenerateRelationPaths", "SuggestPaths", "GenerateRelationPaths",
				"FollowPaths", "GenerateCandidateAnswers", "GetReflectionMode", "EvaluateQuestion", "EvaluateAnswers",
				"Reflect"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 6},
		{"rag: search, answer", askOptions{method: "rag"},
			[]string{"SearchTriples", "GenerateAnswer"},
			[]string{stagetest.Director}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 1},
		{"rog: link, plan, ground and follow paths, answer", askOptions{method: "rog"},
			[]string{"LinkEntities", "GenerateRelationPaths", "SearchRelations", "FollowPaths", "GenerateAnswer"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 2},
		{"rog plans nothing where the relation paths are given",
			askOptions{method: "rog", paths: relationPaths("river")},
			[]string{"LinkEntities", "SearchRelations", "FollowPaths", "GenerateAnswer"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 1},
		{"ger follows the relation paths that are given as they are", askOptions{method: "ger", limits: plenty,
			paths: relationPaths("river")},
			[]string{"LinkEntities", "FollowPaths", "GenerateCandidateAnswers", "GetReflectionMode", "EvaluateQuestion",
				"EvaluateAnswers", "Reflect"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 4},
		{"ger does not judge the set where weighing is requested, which ignores the verdict",
			askOptions{method: "ger", limits: plenty, paths: relationPaths("river"),
				options: &orchestratorv1.AskOptions{Reflection: reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH}},
			[]string{"LinkEntities", "FollowPaths", "GenerateCandidateAnswers", "EvaluateAnswers", "Reflect"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 2},
		{"sc: three samples", askOptions{method: "sc"}, []string{"GenerateAnswer", "GenerateAnswer", "GenerateAnswer"},
			[]string{stagetest.Director}, orchestratorv1.Grounding_GROUNDING_UNGROUNDED, 3},
		{"tog: link, explore relations and entities, judge whether they suffice, answer",
			askOptions{method: "tog", limits: plenty},
			[]string{"LinkEntities", "ListNeighbours", "RankCandidates", "FollowPaths", "RankCandidates",
				"JudgeSufficiency", "GenerateAnswer"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 4},
		{"tog-r leaves entities to chance", askOptions{method: "tog-r", limits: plenty},
			[]string{"LinkEntities", "ListNeighbours", "RankCandidates", "FollowPaths", "JudgeSufficiency",
				"GenerateAnswer"},
			[]string{"Tessen", "Orla"}, orchestratorv1.Grounding_GROUNDING_GROUNDED, 3},
		{"io: answer", askOptions{method: "io"}, []string{"GenerateAnswer"}, []string{stagetest.Director},
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED, 1},
		{"cot: answer", askOptions{method: "cot"}, []string{"GenerateAnswer"}, []string{stagetest.Director},
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			run, err := ask(t.Context(), t, mesh, c.asks)
			if err != nil {
				t.Fatal(err)
			}
			if got := mesh.Calls(); !slices.Equal(got, c.calls) {
				t.Errorf("called %q, want %q", got, c.calls)
			}
			if !slices.Equal(names(run), c.answers) || run.GetGrounding() != c.grounding ||
				run.GetGroundingReason() == "" {
				t.Errorf("answered %q, %v (%s); want %q, %v", names(run), run.GetGrounding(), run.GetGroundingReason(),
					c.answers, c.grounding)
			}
			if u := run.GetUsage(); u.GetCalls() != c.spent || u.GetPromptTokens() != uint64(10*c.spent) {
				t.Errorf("spent %v, want %d calls", u, c.spent)
			}
			if run.GetPartial() || run.GetText() == "" {
				t.Errorf("partial %v, text %q", run.GetPartial(), run.GetText())
			}
		})
	}
}

func TestTheRunHoldsEveryGraph(t *testing.T) {
	run, err := ask(t.Context(), t, stagetest.New(t), askOptions{method: "pg-akv"})
	if err != nil {
		t.Fatal(err)
	}
	if g := run.GetPgAkv(); g.GetCypher() == "" || g.GetPseudoGraph() == nil || len(g.GetHits()) == 0 ||
		g.GetGroundGraph() == nil || len(g.GetEdits()) == 0 || g.GetFixedGraph() == nil || g.GetReadingShare() != 0.85 {
		t.Errorf("pg-akv lacks a graph: %v", g)
	}
	if a := run.GetAnswers()[0]; len(a.GetEvidence()) != 1 || a.GetEvidence()[0].GetObject() != stagetest.Director {
		t.Errorf("the answer rests on %v", a.GetEvidence())
	}
	run, err = ask(t.Context(), t, stagetest.New(t), askOptions{method: "ger"})
	if err != nil {
		t.Fatal(err)
	}
	if g := run.GetGer(); len(g.GetTopicEntities()) == 0 || len(g.GetProposedPaths()) == 0 ||
		len(g.GetRelationPaths()) != 2 || len(g.GetReasoningPaths()) != 3 ||
		len(g.GetCandidates()) != 2 || g.GetQuestionVerdict() == nil || len(g.GetAnswerVerdicts()) != 2 ||
		len(g.GetReflections()) != 3 || g.GetReadingShare() != 0.2 {
		t.Errorf("ger lacks a part: %v", g)
	}
	if a := run.GetAnswers()[1]; len(a.GetEvidence()) != 1 || a.GetEvidence()[0].GetObject() != "Orla" {
		t.Errorf("the answer that reflection added rests on %v", a.GetEvidence())
	}
}

func TestStagesGetWhatTheOnesBeforeFound(t *testing.T) {
	mesh := stagetest.New(t)
	if _, err := ask(t.Context(), t, mesh,
		askOptions{method: "ger", ger: &method.GerConfig{MaxPaths: 2, MaxCandidates: 1}}); err != nil {
		t.Fatal(err)
	}
	if topics := stagetest.Requests[*retrieverv1.FollowPathsRequest](mesh)[0].GetTopicEntities(); !slices.Equal(topics,
		[]string{"Velmora"}) {
		t.Errorf("an entity linked twice is followed once, got %q", topics)
	}
	if p := stagetest.Requests[*retrieverv1.SuggestPathsRequest](mesh)[1]; len(p.GetProposed()) != 1 ||
		p.GetLimit() != 2 || p.GetKg().GetSnapshot() != 3 {
		t.Errorf("paths were suggested by %v", p)
	}
	if r := stagetest.Requests[*reflectorv1.ReflectRequest](mesh)[0]; len(r.GetAnswerVerdicts()) != 1 ||
		r.GetQuestionVerdict() == nil || len(r.GetCandidates()) != 2 {
		t.Errorf("reflection was asked with %v; want one candidate judged, both weighed", r)
	}
}

func TestTheModelProposesNoPathsWhereARankerKnowsTheGraph(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.SuggestPathsRequest) (
		*retrieverv1.SuggestPathsResponse, error) {
		return &retrieverv1.SuggestPathsResponse{Paths: []*graphv1.RelationPath{{
			Steps: []*graphv1.RelationStep{{Relation: "river"}}, TopicEntities: req.GetTopicEntities(),
			Score: proto.Float32(0.7), Probability: proto.Float32(0.7),
		}}}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "ger"})
	if err != nil {
		t.Fatal(err)
	}
	if got := stagetest.Requests[*generatorv1.GenerateRelationPathsRequest](mesh); len(got) != 0 {
		t.Errorf("the model was asked for paths %d times", len(got))
	}
	if len(run.GetGer().GetRelationPaths()) != 1 {
		t.Errorf("the paths are %v", run.GetGer().GetRelationPaths())
	}
}

// Every stage of every method, as the one to stop after. The stages of auto are
// those of two methods, of which a question goes through one's.
func TestUntil(t *testing.T) {
	mesh := stagetest.New(t)
	for _, m := range method.All(mesh.Stages(t), gerConfig) {
		for i, until := range m.Info().GetStages() {
			if m.Info().GetName() == "auto" && until != orchestratorv1.Stage_STAGE_CHOOSE {
				continue
			}
			t.Run(m.Info().GetName()+" until "+config.EnumName(until), func(t *testing.T) {
				run, err := ask(t.Context(), t, stagetest.New(t), askOptions{method: m.Info().GetName(), limits: plenty,
					options: &orchestratorv1.AskOptions{Until: until}})
				if !errors.Is(err, question.ErrStopped) {
					t.Fatalf("ended with %v", err)
				}
				var want []string
				for _, s := range m.Info().GetStages()[:i+1] {
					want = append(want, config.EnumName(s))
				}
				if !slices.Equal(stages(run), want) {
					t.Errorf("went through %q, want %q", stages(run), want)
				}
				if i < len(m.Info().GetStages())-1 && len(run.GetAnswers()) > 0 {
					t.Errorf("answered %q before the last stage", names(run))
				}
			})
		}
	}
}

func TestUntilAStageThatIsNotReachedAsksNoMoreModels(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, nothingLinked)
	_, err := ask(t.Context(), t, mesh,
		askOptions{method: "ger", options: &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_CANDIDATES}})
	if !errors.Is(err, question.ErrStopped) || len(stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh)) > 0 {
		t.Errorf("ended with %v after %q", err, mesh.Calls())
	}
}

func TestGerJudgesTheSetUnlessTheReflectorWeighs(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   reflectorv1.ReflectionMode
		err    error
		judged bool
	}{
		{"weighing ignores the verdict", reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH, nil, false},
		{"the model reads it", reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL, nil, true},
		{"a reflector of an earlier version may read it", 0, status.Error(codes.Unimplemented, "unknown method"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			stagetest.Script(mesh, func(context.Context,
				*reflectorv1.GetReflectionModeRequest) (*reflectorv1.GetReflectionModeResponse, error) {
				return &reflectorv1.GetReflectionModeResponse{Mode: c.mode}, c.err
			})
			run, err := ask(t.Context(), t, mesh, askOptions{method: "ger", limits: plenty})
			if err != nil || run.GetPartial() || len(run.GetAnswers()) == 0 {
				t.Fatalf("%v, %v", run, err)
			}
			if judged := slices.Contains(mesh.Calls(), "EvaluateQuestion"); judged != c.judged {
				t.Errorf("the set was judged: %v, want %v", judged, c.judged)
			}
		})
	}
}
