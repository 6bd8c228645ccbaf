package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/sft"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/evaluator"
	"github.com/triplemesh/triplemesh/services/generator"
	"github.com/triplemesh/triplemesh/services/generator/paths"
	"github.com/triplemesh/triplemesh/services/reflector"
	"github.com/triplemesh/triplemesh/services/retriever"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// localRetriever calls a retriever in this process.
type localRetriever struct{ *retriever.Service }

func (r localRetriever) FindShortestPaths(ctx context.Context, req *retrieverv1.FindShortestPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.FindShortestPathsResponse, error) {
	return r.Service.FindShortestPaths(auth.WithTenant(ctx, auth.DefaultTenant()), req)
}

func (r localRetriever) SuggestPaths(ctx context.Context, req *retrieverv1.SuggestPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.SuggestPathsResponse, error) {
	return r.Service.SuggestPaths(auth.WithTenant(ctx, auth.DefaultTenant()), req)
}

func (r localRetriever) FollowPaths(ctx context.Context, req *retrieverv1.FollowPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.FollowPathsResponse, error) {
	return r.Service.FollowPaths(auth.WithTenant(ctx, auth.DefaultTenant()), req)
}

func newLocalRetriever(t *testing.T) sft.Retriever {
	t.Helper()
	dir := t.TempDir()
	file := testkit.CheckoutFile(t, "lab", "sft", "testdata", "films.tsv")
	tenants := embedded.NewTenants(filepath.Join(dir, "graphs"))
	t.Cleanup(func() { tenants.Close() })
	graphs, err := tenants.ForTenant(auth.DefaultTenant())
	if err != nil {
		t.Fatal(err)
	}
	encoder := storetest.HashEncoder(64)
	if _, err := load.Files(t.Context(), graphs, encoder, []string{file},
		load.Options{KG: "small", Scratch: dir}); err != nil {
		t.Fatal(err)
	}
	service, err := retriever.New(tenants, encoder, nil, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	return localRetriever{service}
}

func defaultPrompts() sft.Settings {
	return newPromptSettings(generator.DefaultConfig(), evaluator.DefaultConfig(), reflector.DefaultConfig())
}

func TestTrainingExamplesHaveThePromptsOfTheStages(t *testing.T) {
	e := sft.Exporter{Retriever: newLocalRetriever(t), KG: &graphv1.KnowledgeGraphRef{Name: "small"},
		Settings: defaultPrompts(), MaxHops: 4, Seed: 1}
	var got strings.Builder
	if _, err := e.Export(t.Context(), []dataset.Question{
		{ID: "q1", Question: "what rivers flow through velmora", Answers: []string{"Tessen", "Orla"},
			TopicEntities: []string{"Velmora"}},
		{ID: "q2", Question: "who directed the films that anna lindqvist acted in", Answers: []string{"Erik Halvorsen",
			"Mia Berg"}, TopicEntities: []string{"Anna Lindqvist"}},
		{ID: "q3", Question: "who is anna lindqvist married to", Answers: []string{"lars holm", "Somebody Else"},
			TopicEntities: []string{"Anna Lindqvist"}},
	}, func(examples []sft.Example) error {
		for _, e := range examples {
			sign := "+"
			if e.Negative {
				sign = "-"
			}
			n := len(e.Messages)
			fmt.Fprintf(&got, "%s %s %s\n%s\n=> %s\n\n", sign, e.Task, e.QuestionID, e.Messages[n-2].Content,
				e.Messages[n-1].Content)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "sft.golden"))
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the examples differ from testdata/sft.golden. Got:\n%s", got.String())
	}
}

// silentModel records the prompts that it is sent and answers nothing.
type silentModel struct{ prompts [][]llm.Message }

func (m *silentModel) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	m.prompts = append(m.prompts, req.Messages)
	return llm.Response{}, llm.ErrUnusable
}

func TestStagesSendThePromptsOfTheTrainingExamples(t *testing.T) {
	const question = "what rivers flow through velmora"
	topics := []string{"Velmora"}
	walk := func(relation, end string) *graphv1.ReasoningPath {
		return &graphv1.ReasoningPath{Entities: []string{"Velmora", end},
			Steps: []*graphv1.RelationStep{{Relation: relation}}}
	}
	walks := []*graphv1.ReasoningPath{walk("place.body_of_water", "Orla"), walk("place.body_of_water", "Tessen"),
		walk("place.twinned_city", "Harn")}
	candidates := []*graphv1.CandidateAnswer{{Answer: "Orla", Paths: walks[:1]}, {Answer: "Harn", Paths: walks[2:]}}
	certainty := float32(0.7)
	reflect := reflector.Case{Question: question, Candidates: candidates, Paths: walks,
		Verdict: &graphv1.QuestionVerdict{Incomplete: true, Reason: "Tessen is missing"},
		Verdicts: map[string]*graphv1.AnswerVerdict{
			"Orla": {Answer: "Orla", Correct: true, Probability: &certainty}}}
	g, e, r := generator.DefaultConfig(), evaluator.DefaultConfig(), reflector.DefaultConfig()
	g.RelationPaths.Format = paths.FormatRoG
	prompts, ledger := defaultPrompts().Prompts, llm.NewLedger(nil)
	for _, c := range []struct {
		name  string
		train func() ([]llm.Message, error)
		serve func(llm.Completer)
	}{
		{"relation paths", func() ([]llm.Message, error) { return prompts.PlanRelationPaths(question, topics) },
			func(m llm.Completer) {
				_, _ = generator.New(g, m).GenerateRelationPaths(t.Context(),
					&generatorv1.GenerateRelationPathsRequest{Question: question, TopicEntities: topics})
			}},
		{"candidate answers",
			func() ([]llm.Message, error) { return prompts.ReadCandidates(question, kgtext.GroupPaths(walks)) },
			func(m llm.Completer) {
				_, _ = generator.New(g, m).GenerateCandidateAnswers(t.Context(),
					&generatorv1.GenerateCandidateAnswersRequest{Question: question, Paths: walks})
			}},
		{"question level",
			func() ([]llm.Message, error) { return prompts.EvaluateQuestion(question, candidates, walks) },
			func(m llm.Completer) {
				_, _, _ = evaluator.NewJudge(m, e.Verdict).Question(t.Context(), question, candidates, walks, ledger)
			}},
		{"answer level",
			func() ([]llm.Message, error) { return prompts.EvaluateAnswer(question, candidates[0]) },
			func(m llm.Completer) {
				_, _, _ = evaluator.NewJudge(m, e.Verdict).Answers(t.Context(), question, candidates[:1], ledger)
			}},
		{"reflection",
			func() ([]llm.Message, error) {
				messages, _, err := prompts.Reflect(sft.Reflection(reflect))
				return messages, err
			},
			func(m llm.Completer) {
				_, _ = reflector.NewReflector(m, r.Reflection).Reflect(t.Context(),
					reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL, reflect, ledger)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			trained, err := c.train()
			if err != nil {
				t.Fatal(err)
			}
			model := &silentModel{}
			c.serve(model)
			if len(model.prompts) == 0 || !slices.Equal(model.prompts[0], trained) {
				t.Errorf("the stage sends\n%v\nthe training example has\n%v", model.prompts, trained)
			}
		})
	}
}
