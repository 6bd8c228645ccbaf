package method_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// relationPaths is a relation path of the caller's: its relations, those that begin
// with ^ backwards.
func relationPaths(relations ...string) []*graphv1.RelationPath {
	path := &graphv1.RelationPath{}
	for _, r := range relations {
		name, inverse := strings.CutPrefix(r, "^")
		path.Steps = append(path.Steps, &graphv1.RelationStep{Relation: name, Inverse: inverse})
	}
	return []*graphv1.RelationPath{path}
}

// formatPath is the reverse of given.
func formatPath(p *graphv1.RelationPath) string {
	var steps []string
	for _, s := range p.GetSteps() {
		if s.GetInverse() {
			steps = append(steps, "^"+s.GetRelation())
		} else {
			steps = append(steps, s.GetRelation())
		}
	}
	return strings.Join(steps, " ")
}

func followedPaths(mesh *stagetest.Mesh) (all []string) {
	for _, p := range stagetest.Requests[*retrieverv1.FollowPathsRequest](mesh)[0].GetPaths() {
		all = append(all, formatPath(p))
	}
	return all
}

func TestRelationPathsAreFollowedBothWays(t *testing.T) {
	for _, c := range []struct {
		name, method string
		paths        []*graphv1.RelationPath
		want         []string
	}{
		{"one step has two directions, its own first", "rog", relationPaths("^twin"), []string{"^twin", "twin"}},
		{"two steps have four", "rog", relationPaths("river", "twin"),
			[]string{"river twin", "^river twin", "river ^twin",
				"^river ^twin"}},
		{"paths that differ in direction alone are followed once", "rog", append(relationPaths("river"),
			relationPaths("^river")...),
			[]string{"river", "^river"}},
		{"rog puts relations that exist in the place of others", "rog", relationPaths("flows through", "twin"),
			[]string{"river twin", "^river twin", "river ^twin", "^river ^twin"}},
		{"ger leaves them as they are", "ger", relationPaths("flows through"),
			[]string{"flows through", "^flows through"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			if _, err := ask(t.Context(), t, mesh, askOptions{method: c.method, paths: c.paths}); err != nil {
				t.Fatal(err)
			}
			if got := followedPaths(mesh); !slices.Equal(got, c.want) {
				t.Errorf("followed %q, want %q", got, c.want)
			}
		})
	}
}

func TestPathsFollowedInVainAreLeftOut(t *testing.T) {
	for _, name := range []string{"rog", "ger"} {
		t.Run(name, func(t *testing.T) {
			run, err := ask(t.Context(), t, stagetest.New(t),
				askOptions{method: name, paths: slices.Concat(relationPaths("twin"), relationPaths("river", "twin"),
					relationPaths("river"))})
			if err != nil {
				t.Fatal(err)
			}
			paths := slices.Concat(run.GetRog().GetRelationPaths(), run.GetGer().GetRelationPaths())
			if len(paths) != 2 || formatPath(paths[0]) != "twin" || formatPath(paths[1]) != "river" {
				t.Fatalf("the relation paths are %v", paths)
			}
			if p := paths[1]; p.GetEnds() != 2 || !slices.Equal(p.GetTopicEntities(), []string{"Velmora"}) {
				t.Errorf("river is told as %v, want its two ends from Velmora", p)
			}
		})
	}
}

func TestRogKeepsThePlanBesideWhatWasFollowed(t *testing.T) {
	mesh := stagetest.New(t)
	run, err := ask(t.Context(), t, mesh, askOptions{method: "rog"})
	if err != nil {
		t.Fatal(err)
	}
	g := run.GetRog()
	if len(g.GetTopicEntities()) == 0 || len(g.GetPlannedPaths()) != 1 ||
		formatPath(g.GetPlannedPaths()[0]) != "flows through" ||
		len(g.GetRelationPaths()) != 1 || formatPath(g.GetRelationPaths()[0]) != "river" ||
		len(g.GetReasoningPaths()) != 2 {
		t.Errorf("rog holds %v", g)
	}
	req := stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh)[0]
	if req.GetStyle() != generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS || len(req.GetPaths()) != 2 {
		t.Errorf("answered by %v", req)
	}
	if e := run.GetAnswers()[1].GetEvidence(); len(e) != 1 || e[0].GetObject() != "Orla" {
		t.Errorf("the second answer rests on %v", e)
	}
}

func TestMorePathsThanCanBeFollowedAreCutWithAWarning(t *testing.T) {
	var many []*graphv1.RelationPath
	for i := range 64 {
		many = append(many, relationPaths(fmt.Sprint("a", i), "b", "c")...)
	}
	mesh := stagetest.New(t)
	run, err := ask(t.Context(), t, mesh, askOptions{method: "ger", paths: many})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(followedPaths(mesh)); n != 256 {
		t.Errorf("%d relation paths were followed", n)
	}
	if w := run.GetStages()[1].GetWarnings(); len(w) != 1 || !strings.Contains(w[0].GetMessage(), "256") {
		t.Errorf("warned %v", w)
	}
}

// However many walks there are, a stage reads a bounded number, and of each
// relation path some.
func TestOfTooManyReasoningPathsEveryRelationPathKeepsItsShare(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.FollowPathsRequest) (
		*retrieverv1.FollowPathsResponse,
		error) {
		resp := &retrieverv1.FollowPathsResponse{}
		for _, p := range req.GetPaths() {
			for i := range 3000 {
				resp.Paths = append(resp.Paths, &graphv1.ReasoningPath{Entities: []string{"Velmora", fmt.Sprint(i)},
					Steps: p.GetSteps()})
			}
		}
		return resp, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "rog", paths: relationPaths("river")})
	if err != nil {
		t.Fatal(err)
	}
	if g := run.GetRog(); len(g.GetReasoningPaths()) != 4096 || len(g.GetRelationPaths()) != 2 ||
		g.GetRelationPaths()[1].GetEnds() != 3000 {
		t.Errorf("%d walks over %v", len(g.GetReasoningPaths()), g.GetRelationPaths())
	}
	if len(run.GetStages()[1].GetWarnings()) != 1 {
		t.Errorf("warned %v", run.GetStages()[1].GetWarnings())
	}
}

func TestAnAnswerOnTheWayRestsOnTheTriplesThatNameIt(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateAnswerRequest) (
		*generatorv1.GenerateAnswerResponse,
		error) {
		return &generatorv1.GenerateAnswerResponse{Text: "{velmora}, {TESSEN} and {Nix}",
			Answers: []string{"velmora", "TESSEN", "Nix"}}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "rog"})
	if err != nil {
		t.Fatal(err)
	}
	var backed []int
	for _, a := range run.GetAnswers() {
		backed = append(backed, len(a.GetEvidence()))
	}
	if !slices.Equal(backed, []int{2, 1, 0}) || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_PARTIAL {
		t.Errorf("%q rest on %v triples, %v", names(run), backed, run.GetGrounding())
	}
}
