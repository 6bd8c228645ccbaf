package orchestrator_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestAnAnswerOfAnotherKindIsDoubtedWhereItLeadsToOneThatIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		name, question string
		own, beyond    string // what the answer is, and what it leads to
		err            error
		doubted        bool
	}{
		{"a person for a guild", "Which guild directed The Quiet Harbour?", "person", "guild", nil, true},
		{"of two words", "Which film guild directed The Quiet Harbour?", "person", "film guild", nil, true},
		{"in another spelling", "Which guilds directed The Quiet Harbour?", "person", "Guild", nil, true},
		{"of the kind", "Which guild directed The Quiet Harbour?", "guild", "guild", nil, false},
		{"nothing of the kind", "Which guild directed The Quiet Harbour?", "person", "town", nil, false},
		{"the relation says it", "Which director made The Quiet Harbour?", "person", "director", nil, false},
		{"no kind is asked for", "Who directed The Quiet Harbour?", "person", "who", nil, false},
		{"without an own kind", "Which guild directed The Quiet Harbour?", "", "guild", nil, false},
		{"no retriever", "Which guild directed The Quiet Harbour?", "person", "guild", errors.New("no"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			around := []*graphv1.Triple{stagetest.Triple(stagetest.Director, "member of", "Orla")}
			if c.own != "" {
				around = append(around, stagetest.Triple(stagetest.Director, "instance_of", c.own))
			}
			stagetest.Script(mesh, func(context.Context, *retrieverv1.ListNeighboursRequest) (
				*retrieverv1.ListNeighboursResponse, error) {
				return &retrieverv1.ListNeighboursResponse{Triples: around, Relations: []*retrieverv1.RelationCount{
					{Relation: "member of"}, {Relation: "instance_of"}}}, nil
			})
			stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.FollowPathsRequest) (
				*retrieverv1.FollowPathsResponse, error) {
				if len(req.GetPaths()) != 1 || req.GetPaths()[0].GetSteps()[1].GetRelation() != "instance_of" {
					t.Errorf("asked for %v", req)
				}
				return &retrieverv1.FollowPathsResponse{Paths: []*graphv1.ReasoningPath{{
					Entities: []string{stagetest.Director, "Orla", c.beyond}}}}, c.err
			})
			req := film("pg-akv")
			req.Question = c.question
			resp, err := serve(t, mesh).Ask(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			run := resp.GetRun()
			if got := strings.Contains(run.GetGroundingReason(), "asks for that of Orla"); got != c.doubted ||
				got != (run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED) {
				t.Errorf("%v: %s", run.GetGrounding(), run.GetGroundingReason())
			}
		})
	}
}

func TestAnAnswerThatHasWhatIsAskedForIsDoubted(t *testing.T) {
	for own, doubted := range map[string]bool{"person": true, "guild": false, "": false} {
		mesh := stagetest.New(t)
		var around []*graphv1.Triple
		if own != "" {
			around = append(around, stagetest.Triple(stagetest.Director, "instance of", own))
		}
		stagetest.Script(mesh, func(context.Context, *retrieverv1.ListNeighboursRequest) (
			*retrieverv1.ListNeighboursResponse, error) {
			return &retrieverv1.ListNeighboursResponse{Triples: around, Relations: []*retrieverv1.RelationCount{
				{Relation: "instance of"}, {Relation: "guild"}}}, nil
		})
		req := film("pg-akv")
		req.Question = "Which guild directed The Quiet Harbour?"
		resp, err := serve(t, mesh).Ask(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		run := resp.GetRun()
		got := strings.Contains(run.GetGroundingReason(), "has the guild that the question asks for")
		if got != doubted ||
			got != (run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED) {
			t.Errorf("a %s: %v: %s", own, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}
