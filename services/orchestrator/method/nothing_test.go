package method_test

import (
	"context"
	"testing"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func nothingLinked(context.Context, *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse, error) {
	return &retrieverv1.LinkEntitiesResponse{}, nil
}

func TestWhereNothingIsFoundTheModelsOwnKnowledgeIsAskedAndSaidToBe(t *testing.T) {
	for _, c := range []struct {
		name, method string
		script       func(*stagetest.Mesh)
	}{
		{"pg-akv with an empty ground graph", "pg-akv", func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context,
				*retrieverv1.GroundGraphRequest) (*retrieverv1.GroundGraphResponse,
				error) {
				return &retrieverv1.GroundGraphResponse{}, nil
			})
			stagetest.Script(m, func(context.Context, *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
				return &verifierv1.VerifyResponse{}, nil
			})
		}},
		{"ger with no topic entity", "ger", func(m *stagetest.Mesh) { stagetest.Script(m, nothingLinked) }},
		{"ger with no relation path", "ger", func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context,
				*retrieverv1.SuggestPathsRequest) (*retrieverv1.SuggestPathsResponse,
				error) {
				return &retrieverv1.SuggestPathsResponse{}, nil
			})
		}},
		{"ger with paths that lead nowhere", "ger", func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context,
				*retrieverv1.FollowPathsRequest) (*retrieverv1.FollowPathsResponse,
				error) {
				return &retrieverv1.FollowPathsResponse{}, nil
			})
		}},
		{"rag with no triple", "rag", func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context,
				*retrieverv1.SearchTriplesRequest) (*retrieverv1.SearchTriplesResponse, error) {
				return &retrieverv1.SearchTriplesResponse{Results: []*retrieverv1.TripleHits{{}}}, nil
			})
		}},
		{"rog with no topic entity", "rog", func(m *stagetest.Mesh) { stagetest.Script(m, nothingLinked) }},
		{"rog with no plan", "rog", func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context, *generatorv1.GenerateRelationPathsRequest) (
				*generatorv1.GenerateRelationPathsResponse, error) {
				return &generatorv1.GenerateRelationPathsResponse{}, nil
			})
		}},
		{"rog with a plan that leads nowhere", "rog", func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context,
				*retrieverv1.FollowPathsRequest) (*retrieverv1.FollowPathsResponse,
				error) {
				return &retrieverv1.FollowPathsResponse{}, nil
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			c.script(mesh)
			run, err := ask(t.Context(), t, mesh, askOptions{method: c.method})
			if err != nil {
				t.Fatal(err)
			}
			if run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_UNGROUNDED || len(run.GetAnswers()) != 1 ||
				run.GetPartial() {
				t.Errorf("answered %q, %v, partial %v", names(run), run.GetGrounding(), run.GetPartial())
			}
			if asked := stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh); len(asked) != 1 ||
				asked[0].GetStyle() != generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT {
				t.Errorf("asked for %v, want one direct answer", asked)
			}
		})
	}
}

func TestAnAnswerThatNoEvidenceNamesIsUngrounded(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateAnswerRequest) (
		*generatorv1.GenerateAnswerResponse,
		error) {
		return &generatorv1.GenerateAnswerResponse{Text: "{Lars Holm}", Answers: []string{"Lars Holm"}}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "pg-akv"})
	if err != nil || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_UNGROUNDED {
		t.Errorf("got %v, %v", run.GetGrounding(), err)
	}
}

func TestATextWithoutAnAnswerIsAnAbstention(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateAnswerRequest) (
		*generatorv1.GenerateAnswerResponse,
		error) {
		return &generatorv1.GenerateAnswerResponse{Text: "I could not say."}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "io"})
	if err != nil || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED || run.GetText() == "" {
		t.Errorf("got %v with %q, %v", run.GetGrounding(), run.GetText(), err)
	}
}
