package results

import (
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

var river = dataset.Question{ID: "1", Question: "Over what river does Mapo Bridge cross?",
	Answers: []string{"Han River"}}

func triple(s, r, o string) *graphv1.Triple {
	return &graphv1.Triple{Subject: s, Relation: r, Object: o}
}

func reports(stages ...orchestratorv1.Stage) []*orchestratorv1.StageReport {
	out := make([]*orchestratorv1.StageReport, len(stages))
	for i, stage := range stages {
		out[i] = &orchestratorv1.StageReport{Stage: stage}
	}
	return out
}

func walk(entities ...string) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: entities}
}

func TestMeasurePgAkv(t *testing.T) {
	t.Parallel()
	right := &graphv1.ScoredTriple{Triple: triple("Mapo Bridge", "crosses", "Han River")}
	wrong := &graphv1.ScoredTriple{Triple: triple("Han River Bridge", "crosses", "Rhine")}
	run := answer("han river")
	run.Usage = &llmv1.Usage{Calls: 2, CachedCalls: 1, PromptTokens: 500, CompletionTokens: 60, CostUsd: 0.25}
	run.Confidence = new(float32(0.75))
	run.Duration = durationpb.New(1500 * time.Millisecond)
	run.Stages = reports(orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, orchestratorv1.Stage_STAGE_GROUND_GRAPH,
		orchestratorv1.Stage_STAGE_VERIFY, orchestratorv1.Stage_STAGE_ANSWER)
	run.Stages[0].Usage, run.Stages[0].Duration = &llmv1.Usage{Calls: 1, PromptTokens: 300}, durationpb.New(time.Second)
	run.Graphs = &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
		Hits: []*graphv1.ScoredTriple{wrong, right},
		GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{
			{Subject: "Han River Bridge", Triples: []*graphv1.ScoredTriple{wrong, wrong}},
			{Subject: "Mapo", Triples: []*graphv1.ScoredTriple{wrong}},
		}},
		FixedGraph: &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{{Triple: triple("Mapo Bridge",
			"Han River", "water")}}},
	}}

	want := Measures{
		Answered: true,
		Scores: score.Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 1, F1: 1, ExactMatch: 1,
			RoG: score.RoG{Precision: 1, Recall: 1, F1: 1}},
		Confidence: new(0.75),
		Graphs: Graphs{
			InHits:        new(true),
			InGround:      new(false), // "Han River Bridge" is no "Han River"
			InFixed:       new(false), // a relation is no entity
			Hits:          new(2),
			GroundTriples: new(3),
			FixedTriples:  new(1),
			EditsRight:    new(0),
			EditsWrong:    new(0),
		},
		Cost: Cost{Calls: 2, CachedCalls: 1, PromptTokens: 500, CompletionTokens: 60, USD: 0.25, Milliseconds: 1500},
		Stages: map[string]Cost{"pseudo-graph": {Calls: 1, PromptTokens: 300, Milliseconds: 1000}, "ground-graph": {},
			"verify": {}, "answer": {}},
	}
	if got := Measure(river, run); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestMeasureGer(t *testing.T) {
	t.Parallel()
	run := answer("Rhine", "Han River")
	run.Stages = reports(orchestratorv1.Stage_STAGE_LINK, orchestratorv1.Stage_STAGE_PATHS,
		orchestratorv1.Stage_STAGE_CANDIDATES, orchestratorv1.Stage_STAGE_REFLECT)
	run.Graphs = &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
		ReasoningPaths: []*graphv1.ReasoningPath{
			walk("Mapo Bridge", "Han River"), walk("Mapo Bridge", "Seoul", "Han River"), walk("Mapo Bridge", "Seoul"),
			walk(),
		},
		Candidates: []*graphv1.CandidateAnswer{{Answer: "Seoul"}, {Answer: "Rhine"}},
	}}
	got := Measure(river, run)
	want := Measures{
		Answered: true,
		Scores:   score.Question(river, "Rhine\nHan River"),
		Graphs: Graphs{
			InPaths:         new(true),
			PathRecall:      new(1.0),
			InCandidates:    new(false),
			PathEnds:        new(2),
			Candidates:      new(2),
			CandidateScores: &score.Scores{},
		},
		Stages: map[string]Cost{"link": {}, "paths": {}, "candidates": {}, "reflect": {}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestMeasureLeavesOutWhatARunDidNotComeTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		run  *orchestratorv1.Run
		want Measures
	}{
		{"a method without graphs", answer(), Measures{}},
		{
			"pg-akv stopped after the pseudo-graph",
			&orchestratorv1.Run{
				Stages: reports(orchestratorv1.Stage_STAGE_PSEUDO_GRAPH),
				Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{}},
			},
			Measures{Stages: map[string]Cost{"pseudo-graph": {}}},
		},
		{
			"ger that found no path",
			&orchestratorv1.Run{
				Stages: reports(orchestratorv1.Stage_STAGE_LINK, orchestratorv1.Stage_STAGE_PATHS),
				Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{}},
			},
			Measures{Graphs: Graphs{InPaths: new(false), PathRecall: new(0.0), PathEnds: new(0)},
				Stages: map[string]Cost{"link": {}, "paths": {}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Measure(river, c.run); !reflect.DeepEqual(got, c.want) {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestMeasureScoresOpenQuestionsByTheirText(t *testing.T) {
	t.Parallel()
	q := dataset.Question{ID: "1", Kind: dataset.Open, Answers: []string{"Nothing of it.",
		"Mapo Bridge crosses the Han River."}}
	run := answer("Han River")
	run.Text = "Mapo Bridge crosses the Han River."
	m := Measure(q, run)
	if m.Scores.RougeL != 1 || m.Scores.Hit != 0 {
		t.Errorf("got %+v", m.Scores)
	}
	run.Grounding = orchestratorv1.Grounding_GROUNDING_ABSTAINED
	if m := Measure(q, run); m.Scores.RougeL != 0 || !m.Abstained || m.Answered {
		t.Errorf("abstained: %+v", m)
	}
}

func TestMeasureAddsUpAStageThatIsGoneThroughAgain(t *testing.T) {
	t.Parallel()
	run := answer("Rhine")
	run.Stages = reports(orchestratorv1.Stage_STAGE_EXPLORE, orchestratorv1.Stage_STAGE_EXPLORE)
	for _, stage := range run.Stages {
		stage.Usage = &llmv1.Usage{Calls: 2, CachedCalls: 1, CachedPromptTokens: 30, CachedCompletionTokens: 4,
			CachedCostUsd: 0.5}
		stage.Duration = durationpb.New(time.Second)
	}
	want := Cost{Calls: 4, CachedCalls: 2, CachedPromptTokens: 60, CachedCompletionTokens: 8, CachedUSD: 1,
		Milliseconds: 2000}
	if got := Measure(river, run).Stages["explore"]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPrediction(t *testing.T) {
	t.Parallel()
	named := answer("Han\nRiver", "Rhine")
	named.Text = "It crosses {Han River}."
	for _, c := range []struct {
		name string
		run  *orchestratorv1.Run
		want string
	}{
		{"answers go one a line", named, "Han River\nRhine"},
		{"the text stands in where no answer is named", &orchestratorv1.Run{Text: "The Han River."}, "The Han River."},
		{"what precedes the model's own answer is not scored",
			&orchestratorv1.Run{Text: "The knowledge graph films does not say. The model's own answer: The Han River.",
				Grounding: orchestratorv1.Grounding_GROUNDING_UNGROUNDED}, "The Han River."},
		{
			"an abstention predicts nothing",
			&orchestratorv1.Run{Text: "Han River is not known.",
				Grounding: orchestratorv1.Grounding_GROUNDING_ABSTAINED},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := prediction(river, c.run); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
