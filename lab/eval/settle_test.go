package eval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestManifestTakesOnWhatRunsTell(t *testing.T) {
	t.Parallel()
	m := results.Manifest{KG: "wikidata", OtherKGs: []results.KG{{Name: "freebase"}}}
	first := &orchestratorv1.Run{
		Kg:       &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 7},
		OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: "freebase", Snapshot: 2}},
		Usage:    &llmv1.Usage{Models: []string{"a", "b"}},
	}
	second := &orchestratorv1.Run{Usage: &llmv1.Usage{Models: []string{"c", "a"}}}
	for _, run := range []*orchestratorv1.Run{first, second, {}} {
		if err := takeOn(&m, run); err != nil {
			t.Fatal(err)
		}
	}
	if m.Snapshot != 7 || m.OtherKGs[0].Snapshot != 2 || !slices.Equal(m.Models, []string{"a", "b", "c"}) {
		t.Errorf("got %+v", m)
	}
}

func TestRunsOfAnotherEvaluationAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		run  *orchestratorv1.Run
		want string
	}{
		{"another snapshot", &orchestratorv1.Run{Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 8}},
			"snapshot 8 of wikidata and not 7"},
		{"another snapshot beside", &orchestratorv1.Run{OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: "freebase",
			Snapshot: 3}}}, "snapshot 3 of freebase and not 2"},
		{"another model", &orchestratorv1.Run{Usage: &llmv1.Usage{Models: []string{"c"}}},
			"answered by c, and those before by a and b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := results.Manifest{KG: "wikidata", Snapshot: 7, OtherKGs: []results.KG{{Name: "freebase", Snapshot: 2}},
				Models: []string{"a", "b"}}
			if err := takeOn(&m, c.run); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestAReaderIsBesideTheModel(t *testing.T) {
	t.Parallel()
	m := results.Manifest{Reader: "oracle"}
	for _, models := range [][]string{{"oracle"}, {"a"}, {"a", "oracle"}} { // only read, only drafted, both
		if err := takeOn(&m, &orchestratorv1.Run{Usage: &llmv1.Usage{Models: models}}); err != nil {
			t.Errorf("%q: %v", models, err)
		}
	}
	err := takeOn(&m, &orchestratorv1.Run{Usage: &llmv1.Usage{Models: []string{"b", "oracle"}}})
	if err == nil || !strings.Contains(err.Error(), "answered by b, and those before by a") {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(m.Models, []string{"oracle", "a"}) {
		t.Errorf("models %q", m.Models)
	}
}

func TestRunKeepsNoAnswerOfAnotherModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	by := func(model string) *fakeAsker {
		return &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
			run := rightAnswer()
			run.Usage = &llmv1.Usage{Calls: 1, Models: []string{model}}
			return run, nil
		}}
	}
	first := newRunner(t, by("small"), dir, nQuestions(2)...)
	if err := run(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := first.journal.Close(); err != nil {
		t.Fatal(err)
	}
	second := newRunner(t, by("large"), dir, nQuestions(4)...)
	err := run(t.Context(), second)
	if err == nil || !strings.Contains(err.Error(), "answered by large, and those before by small") {
		t.Errorf("error %v", err)
	}
	if second.countAnswered() != 2 {
		t.Errorf("%d questions answered", second.countAnswered())
	}
}

func violation(t *testing.T, field string) error {
	t.Helper()
	return detailed(t, codes.InvalidArgument,
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field,
			Description: "is bad"}}})
}

func TestServicesRefuseAnEvaluationOrAQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"an option", violation(t, "options.ablation"), true},
		{"a method", status.Error(codes.InvalidArgument, "no such method"), true},
		{"a knowledge graph", status.Error(codes.NotFound, "no such graph"), true},
		{"a question", violation(t, "question"), false},
		{"an entity of a question", violation(t, "topic_entities[3]"), false},
		{"a failure", status.Error(codes.Internal, "broken"), false},
		{"nothing", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := isRefusal(c.err); got != c.want {
				t.Errorf("refused(%v) = %v", c.err, got)
			}
		})
	}
}

func TestARefusedEvaluationIsToldOnceAndLeavesTheOthers(t *testing.T) {
	t.Parallel()
	asker := &fakeAsker{reply: func(_ context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		if req.GetMethod() == "io" {
			return nil, violation(t, "options.ablation")
		}
		return rightAnswer(), nil
	}}
	bad, good := newRunner(t, asker, "", nQuestions(5)...), newRunner(t, asker, "", nQuestions(5)...)
	m := bad.journal.Manifest()
	m.Method = "io"
	if err := bad.journal.Settle(m); err != nil {
		t.Fatal(err)
	}
	bad.progress.expect([]*evaluation{good.evaluation}, 1)
	if err := bad.lab.run(t.Context(), []*evaluation{bad.evaluation, good.evaluation}); err != nil {
		t.Fatal(err)
	}
	var refused *RefusedError
	if !errors.As(bad.stopped, &refused) || !strings.Contains(refused.Error(), "options.ablation: is bad") {
		t.Errorf("stopped by %v", bad.stopped)
	}
	if _, recorded := bad.journal.Record("a"); recorded || len(asker.questions()) != 6 || good.countAnswered() != 5 {
		t.Errorf("asked %v; a failure was recorded: %v", asker.questions(), recorded)
	}
}

func TestServicesThatDoNotKnowOfAnAblationAreNotMeasuredByIt(t *testing.T) {
	t.Parallel()
	r := newRunner(t, &fakeAsker{}, "", nQuestions(3)...)
	r.options = &orchestratorv1.AskOptions{Ablation: orchestratorv1.Ablation_ABLATION_NO_REFLECTION}
	err := run(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "older than this program") || r.countAnswered() != 0 {
		t.Errorf("error %v, %d answered", err, r.countAnswered())
	}
}

func TestRequestsCarryEverythingThatIsGiven(t *testing.T) {
	t.Parallel()
	asker := &fakeAsker{}
	r := newRunner(t, asker, "", nQuestions(1)...)
	m := r.journal.Manifest()
	m.OtherKGs = []results.KG{{Name: "freebase", Snapshot: 2}}
	if err := r.journal.Settle(m); err != nil {
		t.Fatal(err)
	}
	r.paths = relationPaths{"a": {{Steps: []*graphv1.RelationStep{{Relation: "crosses"}}}}}
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	request := asker.requests[0]
	if request.GetOtherKgs()[0].GetName() != "freebase" || request.GetOtherKgs()[0].GetSnapshot() != 2 ||
		request.GetRelationPaths()[0].GetSteps()[0].GetRelation() != "crosses" {
		t.Errorf("asked %v", request)
	}
}
