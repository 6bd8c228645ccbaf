package method_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

var gerConfig = method.GerConfig{MaxPaths: 2, MaxEnds: 100, MaxCandidates: 5}

// down is a stage that cannot be reached.
var down = status.Error(codes.Unavailable, "the stage is down")

// budgetError is what a stage says whose budget ran out.
func budgetError(t *testing.T) error {
	t.Helper()
	s, err := status.New(codes.ResourceExhausted,
		"budget spent").WithDetails(
		&errdetails.ErrorInfo{Reason: errinfo.Name(errorsv1.ErrorReason_ERROR_REASON_BUDGET_EXHAUSTED)})
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}

// askOptions is a question to a method of its own configuration.
type askOptions struct {
	method  string
	text    string // where it is not the one that is scripted for the method
	ger     *method.GerConfig
	limits  *llmv1.Budget
	options *orchestratorv1.AskOptions
	topics  []string
	paths   []*graphv1.RelationPath
	listen  question.Listener
}

// ask answers one of the scripted questions, and returns the run as it stands
// at the end.
func ask(ctx context.Context, t *testing.T, mesh *stagetest.Mesh, a askOptions) (*orchestratorv1.Run, error) {
	t.Helper()
	text := a.text
	if text == "" {
		text = stagetest.Film
		if slices.Contains([]string{"ger", "rog", "tog", "tog-r"}, a.method) {
			text = stagetest.Rivers
		}
	}
	ger := gerConfig
	if a.ger != nil {
		ger = *a.ger
	}
	req := &orchestratorv1.AskRequest{
		Question: text, Method: a.method, TopicEntities: a.topics, RelationPaths: a.paths, Options: a.options,
		Limits: &llmv1.Limits{Budget: a.limits},
	}
	run := &orchestratorv1.Run{Id: "1", Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 3}}
	q := question.New(req, run, telemetry.Discard().Tracer(), a.listen)
	for _, m := range method.All(mesh.Stages(t), ger) {
		if m.Info().GetName() == a.method {
			err := m.Answer(ctx, q)
			return q.Snapshot(), err
		}
	}
	t.Fatalf("there is no method %q", a.method)
	return nil, nil
}

func names(run *orchestratorv1.Run) (out []string) {
	for _, a := range run.GetAnswers() {
		out = append(out, a.GetAnswer())
	}
	return out
}

func stages(run *orchestratorv1.Run) (out []string) {
	for _, s := range run.GetStages() {
		out = append(out, config.EnumName(s.GetStage()))
	}
	return out
}
