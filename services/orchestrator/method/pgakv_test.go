package method_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestRankedPathsSettleTheAnswersOfPgAkv(t *testing.T) {
	for _, c := range []struct {
		name    string
		settled []string
		fails   bool
		want    []string
		text    string
	}{
		{"other answers than were read", []string{"Orla", "Harn"}, false, []string{"Orla", "Harn"}, "Orla, Harn"},
		{"the reading stands if the reflector cannot be had", nil, true, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, err := ask(t.Context(), t, stagetest.New(t), askOptions{method: "pg-akv"})
			if err != nil {
				t.Fatal(err)
			}
			mesh := stagetest.New(t)
			paths := []*graphv1.ReasoningPath{{Entities: []string{"Velmora", "Orla"},
				Steps: []*graphv1.RelationStep{{Relation: "river"}}, Probability: proto.Float32(0.9)}}
			stagetest.Script(mesh, func(context.Context, *retrieverv1.GroundGraphRequest) (
				*retrieverv1.GroundGraphResponse, error) {
				return &retrieverv1.GroundGraphResponse{GroundGraph: plain.GetPgAkv().GetGroundGraph(), Paths: paths},
					nil
			})
			stagetest.Script(mesh, func(_ context.Context, req *reflectorv1.ReflectRequest) (
				*reflectorv1.ReflectResponse, error) {
				if req.GetMode() != reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH || len(req.GetPaths()) != 1 ||
					len(req.GetCandidates()) != len(plain.GetAnswers()) {
					t.Errorf("the reflector was asked %v", req)
				}
				if c.fails {
					return nil, down
				}
				return &reflectorv1.ReflectResponse{Answers: c.settled}, nil
			})
			run, err := ask(t.Context(), t, mesh, askOptions{method: "pg-akv"})
			if err != nil {
				t.Fatal(err)
			}
			want, text := c.want, c.text
			if c.fails {
				want, text = answerNames(plain), plain.GetText()
			}
			if got := answerNames(run); !slices.Equal(got, want) || run.GetText() != text {
				t.Errorf("answers %q, %q; want %q, %q", got, run.GetText(), want, text)
			}
			if len(run.GetPgAkv().GetReasoningPaths()) != 1 {
				t.Errorf("the run lacks its paths: %v", run.GetPgAkv().GetReasoningPaths())
			}
			if !c.fails && len(run.GetAnswers()[0].GetEvidence()) == 0 {
				t.Error("the answer of a path has no evidence")
			}
		})
	}
}

func answerNames(run *orchestratorv1.Run) []string {
	var all []string
	for _, a := range run.GetAnswers() {
		all = append(all, a.GetAnswer())
	}
	return all
}
