package results

import (
	"reflect"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestGraphsOfEveryMethod(t *testing.T) {
	t.Parallel()
	right := &graphv1.ScoredTriple{Triple: triple("Mapo Bridge", "crosses", "Han River")}
	for _, c := range []struct {
		name   string
		run    *orchestratorv1.Run
		stages []orchestratorv1.Stage
		want   Graphs
	}{
		{
			"rag finds triples",
			&orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{
				Hits: []*graphv1.ScoredTriple{right}}}},
			[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_SEARCH},
			Graphs{InHits: new(true), Hits: new(1)},
		},
		{
			"sc has the distinct answers of its samples as candidates",
			&orchestratorv1.Run{Graphs: &orchestratorv1.Run_Sc{
				Sc: &orchestratorv1.ScGraphs{Samples: []*orchestratorv1.Sample{
					{Answers: []string{"Rhine"}}, {Answers: []string{"the rhine", "Han River"}}, {},
				}}}},
			[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_SAMPLE},
			Graphs{InCandidates: new(true), Candidates: new(2)},
		},
		{
			"tog has all that its beams pass, at any depth",
			&orchestratorv1.Run{Graphs: &orchestratorv1.Run_Tog{Tog: &orchestratorv1.TogGraphs{
				Depths: []*orchestratorv1.TogDepth{{ReasoningPaths: []*graphv1.ReasoningPath{walk("Mapo Bridge",
					"Han River")}}},
				ReasoningPaths: []*graphv1.ReasoningPath{walk("Mapo Bridge", "Seoul", "Korea")},
			}}},
			[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_LINK, orchestratorv1.Stage_STAGE_EXPLORE},
			Graphs{InPaths: new(true), PathRecall: new(1.0), PathEnds: new(3)},
		},
		{
			"rog has the ends of its paths",
			&orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{
				ReasoningPaths: []*graphv1.ReasoningPath{walk("Mapo Bridge", "Han River", "Korea")},
			}}},
			[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_PATHS},
			Graphs{InPaths: new(false), PathRecall: new(0.0), PathEnds: new(1)},
		},
		{
			"a method that did not come to its graph has none",
			&orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{}}}, nil, Graphs{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run.Stages = reports(c.stages...)
			if got := measureGraphs(river, c.run); !reflect.DeepEqual(got, c.want) {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestEditsAreJudgedByTheRightAnswers(t *testing.T) {
	t.Parallel()
	good, bad := triple("Mapo Bridge", "crosses", "Han River"), triple("Mapo Bridge", "crosses", "Rhine")
	context := triple("Mapo Bridge", "located in", "Seoul")
	evidence := []*graphv1.ScoredTriple{{Triple: good}}
	const (
		keep    = graphv1.EditKind_EDIT_KIND_KEEP
		replace = graphv1.EditKind_EDIT_KIND_REPLACE
		add     = graphv1.EditKind_EDIT_KIND_ADD
		remove  = graphv1.EditKind_EDIT_KIND_DELETE
	)
	for _, c := range []struct {
		name         string
		edit         *graphv1.Edit
		right, wrong int
	}{
		{"a draft replaced by the answer is right", &graphv1.Edit{Kind: replace, Before: bad, After: good}, 1, 0},
		{"an answer replaced by another is wrong", &graphv1.Edit{Kind: replace, Before: good, After: bad}, 0, 1},
		{"an answer in other words is neither", &graphv1.Edit{Kind: replace, Before: good, After: triple("Mapo Bridge",
			"over", "Han River")}, 0, 0},
		{"an answer added is right", &graphv1.Edit{Kind: add, After: good}, 1, 0},
		{"another fact added is neither", &graphv1.Edit{Kind: add, After: context}, 0, 0},
		{"an answer deleted is wrong", &graphv1.Edit{Kind: remove, Before: good}, 0, 1},
		{"a draft deleted by evidence of the answer is right", &graphv1.Edit{Kind: remove, Before: bad,
			Evidence: evidence}, 1, 0},
		{"a draft deleted for another reason is neither", &graphv1.Edit{Kind: remove, Before: bad}, 0, 0},
		{"an answer deleted by evidence of it is wrong", &graphv1.Edit{Kind: remove, Before: good, Evidence: evidence},
			0, 1},
		{"a draft that is kept is neither", &graphv1.Edit{Kind: keep, Before: good, After: good}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			right, wrong := judgeEdits(river, []*graphv1.Edit{c.edit})
			if right != c.right || wrong != c.wrong {
				t.Errorf("%d right and %d wrong, want %d and %d", right, wrong, c.right, c.wrong)
			}
		})
	}
}

func TestAnAliasIsAsGoodAsTheAnswer(t *testing.T) {
	t.Parallel()
	q := dataset.Question{Answers: []string{"Hangang"}, Aliases: [][]string{{"Han River"}}}
	run := &orchestratorv1.Run{
		Stages: reports(orchestratorv1.Stage_STAGE_PATHS),
		Graphs: &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{ReasoningPaths: []*graphv1.ReasoningPath{
			walk("Mapo Bridge", "Han River")}}},
	}
	if g := measureGraphs(q, run); !*g.InPaths {
		t.Error("an alias at the end of a path is no answer")
	}
}
