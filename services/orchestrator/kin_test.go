package orchestrator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestRelativesOfTheOtherSexAreLeftOut(t *testing.T) {
	const grounded, related = orchestratorv1.Grounding_GROUNDING_GROUNDED, orchestratorv1.Grounding_GROUNDING_RELATED
	for _, c := range []struct {
		name, question, relation string
		sexes                    map[string]string
		err                      error
		want                     string
		grounding                orchestratorv1.Grounding
	}{
		{"daughters of the children", "Who are the daughters of The Quiet Harbour?", "child",
			map[string]string{"Anna Lind": "female", "Per Holm": "male"}, nil, "Anna Lind", grounded},
		{"all of them", "Who are the daughters of The Quiet Harbour?", "child",
			map[string]string{"Anna Lind": "female", "Per Holm": "female"}, nil, "Anna Lind, Per Holm", grounded},
		{"none of them", "Who are the sons of The Quiet Harbour?", "child",
			map[string]string{"Anna Lind": "female", "Per Holm": "female"}, nil, "Anna Lind, Per Holm", related},
		{"nothing says who", "Who are the sons of The Quiet Harbour?", "child", nil, nil, "Anna Lind, Per Holm",
			related},
		{"of one nothing says it", "Who are the sons of The Quiet Harbour?", "child",
			map[string]string{"Anna Lind": "female"}, nil, "Per Holm", grounded},
		{"the relation says it", "Who are the sons of The Quiet Harbour?", "son",
			map[string]string{"Anna Lind": "female"}, nil, "Anna Lind, Per Holm", grounded},
		{"neither is asked for", "Who are the children of The Quiet Harbour?", "child",
			map[string]string{"Anna Lind": "female"}, nil, "Anna Lind, Per Holm", grounded},
		{"no retriever", "Who are the sons of The Quiet Harbour?", "child",
			map[string]string{"Anna Lind": "female"}, errors.New("no"), "Anna Lind, Per Holm", grounded},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			names := []string{"Anna Lind", "Per Holm"}
			stagetest.Script(mesh, func(context.Context, *retrieverv1.ExecuteQueryRequest) (
				*retrieverv1.ExecuteQueryResponse, error) {
				table := &graphv1.QueryTable{}
				for _, name := range names {
					table.Rows = append(table.Rows, &graphv1.QueryRow{Cells: []*graphv1.Entity{{Name: name}},
						Triples: []*graphv1.Triple{stagetest.Triple("The Quiet Harbour", c.relation, name)}})
				}
				return &retrieverv1.ExecuteQueryResponse{Table: table}, nil
			})
			stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.ListNeighboursRequest) (
				*retrieverv1.ListNeighboursResponse, error) {
				resp := &retrieverv1.ListNeighboursResponse{}
				if sex := c.sexes[req.GetEntity()]; sex != "" {
					resp.Relations = []*retrieverv1.RelationCount{{Relation: "born"}, {Relation: "gender"}}
					if !req.GetRelationsOnly() && slices.Equal(req.GetRelations(), []string{"gender"}) {
						resp.Triples = []*graphv1.Triple{stagetest.Triple(req.GetEntity(), "gender", sex)}
					}
				}
				return resp, c.err
			})
			cfg := testConfig(t, mesh)
			cfg.Confidence.Grounded = 0
			req := film("query")
			req.Question = c.question
			got, err := serveWith(t, cfg).Ask(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			run, answers := got.GetRun(), []string(nil)
			for _, a := range run.GetAnswers() {
				answers = append(answers, a.GetAnswer())
			}
			if strings.Join(answers, ", ") != c.want || run.GetText() != c.want || run.GetGrounding() != c.grounding {
				t.Errorf("%v %v: %q: %s", run.GetGrounding(), answers, run.GetText(), run.GetGroundingReason())
			}
		})
	}
}
