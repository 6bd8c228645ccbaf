package sft

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func path(relation string, entities ...string) *graphv1.ReasoningPath {
	p := &graphv1.ReasoningPath{Entities: entities}
	for range len(entities) - 1 {
		p.Steps = append(p.Steps, &graphv1.RelationStep{Relation: relation})
	}
	return p
}

// river returns a run of ger that took a twinned city for a river and overlooked a
// river.
func river() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Question: questions[0].Question, Kg: &graphv1.KnowledgeGraphRef{Name: "small", Snapshot: 1},
		Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
			ReasoningPaths: []*graphv1.ReasoningPath{
				path("place.twinned_city", "Velmora", "Harn"), path("place.twinned_city", "Velmora", "Oster Bay"),
				path("place.body_of_water", "Velmora", "Tessen"), path("place.body_of_water", "Velmora", "Orla"),
			},
			Candidates: []*graphv1.CandidateAnswer{{Answer: "Harn"}, {Answer: "Tessen"}, {Answer: "Tessen"},
				{Answer: "on no path"}},
			AnswerVerdicts: []*graphv1.AnswerVerdict{
				{Answer: "Harn", Correct: true, Probability: new(float32(0.75))}, {Answer: "Tessen", Correct: true,
					Probability: new(float32(0.9))},
			},
			QuestionVerdict: &graphv1.QuestionVerdict{Reason: "these are rivers", Correct: true},
		}},
	}
}

// recordedIn writes results of an evaluation.
func recordedIn(t testing.TB, of map[string]*orchestratorv1.Run, failed ...string) string {
	t.Helper()
	dir := t.TempDir()
	j, err := results.Resume(dir, results.Manifest{Format: results.Format, Method: "ger", KG: "small"})
	if err != nil {
		t.Fatal(err)
	}
	add := func(id string, run *orchestratorv1.Run, failure error) {
		q := dataset.Question{ID: id, Question: "who else", Answers: []string{"a"}}
		if i := slices.IndexFunc(questions, func(q dataset.Question) bool { return q.ID == id }); i >= 0 {
			q = questions[i]
		}
		if run.GetQuestion() != "" {
			q.Question = run.GetQuestion()
		}
		if err := j.Add(results.NewLine(q, nil, run, failure)); err != nil {
			t.Fatal(err)
		}
	}
	for id, run := range of {
		add(id, run, nil)
	}
	for _, id := range failed {
		add(id, nil, status.Error(codes.Unavailable, "the model server is down"))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRunsAreReadAndCounted(t *testing.T) {
	elsewhere, another, blind := river(), river(), river()
	elsewhere.Kg.Name = "wikidata"
	another.Question = "an id that another dataset uses too"
	blind.Graphs = &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{}}
	blind.Question, elsewhere.Question = "", ""
	dirs := []string{
		recordedIn(t, map[string]*orchestratorv1.Run{"q1": river(), "q2": elsewhere, "q3": blind, "other": river()},
			"q4"),
		recordedIn(t, map[string]*orchestratorv1.Run{"q1": another}),
	}
	found, count, err := readRuns(dirs, "small", questions)
	if err != nil {
		t.Fatal(err)
	}
	if want := (RunsRead{Read: 6, Used: 1, OtherQuestions: 2, WithoutPaths: 3}); count != want {
		t.Errorf("counted %+v, want %+v", count, want)
	}
	if len(found) != 1 || len(found["q1"]) != 1 || !slices.Equal(found["q1"][0].candidates,
		[]string{"Harn", "Tessen"}) {
		t.Errorf("found %+v", found)
	}
}

func TestADirectoryThatHoldsNoResultsIsRefused(t *testing.T) {
	if _, _, err := readRuns([]string{t.TempDir()}, "small", questions); err == nil || !strings.Contains(err.Error(),
		"no results") {
		t.Errorf("got %v", err)
	}
}

func TestARunThatCannotBeReadIsNamed(t *testing.T) {
	dir := recordedIn(t, map[string]*orchestratorv1.Run{"q1": river()})
	file := filepath.Join(dir, "runs.jsonl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := strings.Replace(string(text), `"candidates":[`, `"candidates":[7,`, 1)
	if err := os.WriteFile(file, []byte(spoilt), 0o600); err != nil || spoilt == string(text) {
		t.Fatalf("nothing was spoilt, %v", err)
	}
	_, _, err = readRuns([]string{dir}, "small", questions)
	for _, want := range []string{dir, "question q1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %s", err, want)
		}
	}
}

func TestMistakesOfRunsAreTaught(t *testing.T) {
	r, _, err := readRuns([]string{recordedIn(t, map[string]*orchestratorv1.Run{"q1": river()})}, "small", questions)
	if err != nil {
		t.Fatal(err)
	}
	examples, s := export(t, Exporter{Seed: 1, runs: r}, questions[:1])
	for _, task := range []Task{EvaluateQuestion, EvaluateAnswer, Reflect} {
		if c := s.Examples[task]; c.Negative*2 != c.Examples {
			t.Errorf("%s: %d of %d examples are negative, want half", task, c.Negative, c.Examples)
		}
	}
	got := formatExamples(examples)
	for name, want := range map[string]string{
		"its candidates are a set that is wrong": "Candidates: Harn; Tessen\n=> {\"reason\": \"Tessen is right, Harn " +
			"is wrong, Orla is missing\", \"correct\": false, \"incomplete\": true}",
		"its wrong candidate is a wrong answer": "Path: Velmora -> twinned city -> Harn\nIs \"Harn\" a right " +
			"answer? yes or no\n=> no",
		"its verdicts are wrong feedback": "Review: these are rivers\n- Harn: true, 0.75\n- Tessen: true, " +
			"0.90\nOthers: Oster Bay; Orla\n=> {\"answers\": [\"Tessen\", \"Orla\"]}",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", name, want, got)
		}
	}
}

func TestAQuestionThatOnlyARunReachesIsTaughtByTheRun(t *testing.T) {
	mayor := river()
	mayor.Question = questions[3].Question
	mayor.GetGer().ReasoningPaths = append(mayor.GetGer().GetReasoningPaths(), path("place.mayor", "Velmora", "Reik"))
	r, _, err := readRuns([]string{recordedIn(t, map[string]*orchestratorv1.Run{"q4": mayor})}, "small", questions)
	if err != nil {
		t.Fatal(err)
	}
	_, s := export(t, Exporter{Seed: 1, runs: r}, questions[3:4])
	if s.Unreachable != 1 || s.Examples[EvaluateAnswer].Examples != 2 || s.Examples[RelationPaths].Examples != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestReadRun(t *testing.T) {
	forced, planned, many := river(), river(), river()
	forced.Ablation = orchestratorv1.Ablation_ABLATION_NEGATIVE_VERDICTS
	planned.Graphs = &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{
		ReasoningPaths: river().GetGer().GetReasoningPaths()}}
	planned.Answers = []*orchestratorv1.Answer{{Answer: "Orla"}, {Answer: "from memory"}}
	var walks []*graphv1.ReasoningPath
	for i := range 20 {
		for end := range 40 {
			for via := range 3 {
				walks = append(walks, path("r"+string(rune('a'+i)), "Velmora", string(rune('A'+via)),
					string(rune('a'+end))))
			}
		}
	}
	many.GetGer().ReasoningPaths = walks
	for _, tt := range []struct {
		name                 string
		run                  *orchestratorv1.Run
		candidates           []string
		paths, verdicts      int
		judged, withoutPaths bool
	}{
		{"of ger", river(), []string{"Harn", "Tessen"}, 4, 2, true, false},
		{"of rog: its answers are candidates", planned, []string{"Orla"}, 4, 0, false, false},
		{"with forced verdicts, which nobody meant", forced, []string{"Harn", "Tessen"}, 4, 0, false, false},
		{"of more paths than a prompt shows", many, nil, keptGroups * keptEnds * keptWalks, 2, true, false},
		{"without graphs", &orchestratorv1.Run{Kg: ref}, nil, 0, 0, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := protojson.Marshal(tt.run)
			if err != nil {
				t.Fatal(err)
			}
			r, ok, err := readRun(text, "small")
			if err != nil || ok == tt.withoutPaths {
				t.Fatalf("usable %v, %v", ok, err)
			}
			if !slices.Equal(r.candidates, tt.candidates) || len(r.paths) != tt.paths ||
				len(r.verdicts) != tt.verdicts || (r.verdict != nil) != tt.judged {
				t.Errorf("%d paths, candidates %q, %d verdicts, verdict %v", len(r.paths), r.candidates,
					len(r.verdicts), r.verdict)
			}
		})
	}
}

func FuzzReadRun(f *testing.F) {
	text, err := protojson.Marshal(river())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(text))
	f.Add(
		[]byte(
			`{"kg":{"name":"small"},"ger":{"reasoningPaths":[{"entities":["a"]},{}],` +
				`"candidates":[{}],"answerVerdicts":[{}]}}`))
	f.Add([]byte(`{"kg":{"name":"small"},"auto":{"ger":null}}`))
	f.Add([]byte(`{"written by a newer program": 1}`))
	s := settings
	f.Fuzz(func(t *testing.T, text []byte) {
		r, ok, err := readRun(json.RawMessage(text), "small")
		if err != nil || !ok {
			return
		}
		sc := scene{
			question: questions[0].Question, id: "q1", gold: newGold(questions[0]),
			paths: r.paths, candidates: r.candidates, verdicts: r.verdicts, verdict: r.verdict,
		}
		for task, make := range map[Task]func(scene) ([]Example, error){
			CandidateAnswers: s.readCandidates, EvaluateQuestion: s.judgeSet, Reflect: s.reflect,
			EvaluateAnswer: func(sc scene) ([]Example, error) { return s.judgeAnswers(sc, map[string]bool{}) },
		} {
			sc.random = (&Exporter{Seed: 1}).random("q1")
			examples, err := make(sc)
			if err != nil {
				t.Fatal(err)
			}
			negative := 0
			for _, e := range examples {
				if e.Negative {
					negative++
				}
			}
			if task != CandidateAnswers && negative*2 != len(examples) {
				t.Errorf("%s: %d of %d are negative", task, negative, len(examples))
			}
		}
	})
}
