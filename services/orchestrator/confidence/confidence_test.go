package confidence

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func fact(object string) *graphv1.Triple {
	return &graphv1.Triple{Subject: "Velmora", Relation: "river", Object: object}
}

func answer(name string, evidence ...*graphv1.Triple) *orchestratorv1.Answer {
	return &orchestratorv1.Answer{Answer: name, Evidence: evidence}
}

// grounded is a pg-akv run: one answer that the ground graph names, one that it
// does not.
func groundedRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Question: "what rivers flow through velmora", Answers: []*orchestratorv1.Answer{answer("Tessen", fact("Tessen")), answer("Po")},
		AnswerProbability: new(float32(0.5)), Partial: true,
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{
			Subject: "Velmora", Confidence: 0.8, Triples: []*graphv1.ScoredTriple{
				{Triple: fact("Tessen"), QuestionScore: 0.6}, {Triple: fact("Orla"), QuestionScore: 0.9},
			},
		}}}}},
	}
}

// followUpRun is a rag run of a question that names nothing by itself.
func followUpRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Question: "and what rivers flow through it", StandaloneQuestion: "what rivers flow through Velmora",
		Answers: []*orchestratorv1.Answer{answer("Tessen", fact("Tessen"))}, Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{}},
	}
}

func walk(to string, score float32) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: []string{"Velmora", to}, Steps: []*graphv1.RelationStep{{Relation: "river"}}, Score: score}
}

// judgedRun is a ger run: of three candidates two were kept, and judged.
func judgedRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Answers: []*orchestratorv1.Answer{answer("Tessen", fact("Tessen")), answer("Orla", fact("Orla"))},
		Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
			ReasoningPaths: []*graphv1.ReasoningPath{walk("Tessen", .4), walk("tessen", .2), walk("Orla", .2)},
			Candidates:     []*graphv1.CandidateAnswer{{Answer: "Tessen"}, {Answer: "Orla"}, {Answer: "Harn"}},
			AnswerVerdicts: []*evaluatorv1.AnswerVerdict{
				{Answer: "Tessen", Correct: true, Probability: new(float32(0.9))}, {Answer: "Orla", Correct: true}, {Answer: "Harn", Probability: new(float32(0.1))},
			},
			QuestionVerdict: &evaluatorv1.QuestionVerdict{Incomplete: true},
		}},
	}
}

func TestFeatures(t *testing.T) {
	for _, c := range []struct {
		name   string
		run    *orchestratorv1.Run
		family string
		want   map[string]float64
	}{
		{"pg-akv: what names the answers, and how near it is", groundedRun(), Graph, map[string]float64{
			"grounded": .5, "question_score": .3, "subject_confidence": .4, "named": .5, "lead": .4, "probability": .5, "answers": math.Log(2), "partial": 1}},
		{"pg-akv: nothing names the answer", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Po")}, Graphs: &orchestratorv1.Run_PgAkv{}}, Graph, map[string]float64{
			"grounded": 0, "question_score": 0, "subject_confidence": 0, "named": 0, "lead": 1, "answers": 0, "partial": 0}},
		{"a follow-up names what it stands for", followUpRun(), Graph, map[string]float64{
			"grounded": 1, "question_score": 0, "named": 1, "lead": 1, "answers": 0, "partial": 0}},
		{"rag: hits have their cosine to the question as score", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Tessen", fact("Tessen"))},
			Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{Hits: []*graphv1.ScoredTriple{{Triple: fact("Tessen"), Score: .7}}}}}, Graph, map[string]float64{
			"grounded": 1, "question_score": .7, "named": 0, "lead": 1, "answers": 0, "partial": 0}},
		{"ger: verdicts, paths and what was kept", judgedRun(), Paths, map[string]float64{
			"grounded": 1, "verdict": .95, "set_right": 0, "incomplete": 1, "kept": 2. / 3, "path_score": .3, "answers": math.Log(2), "partial": 0}},
		{"ger: verdicts that could not be had say nothing", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Tessen")}, Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
			AnswerVerdicts: []*evaluatorv1.AnswerVerdict{{Answer: "Tessen", Unknown: true}}}}}, Paths, map[string]float64{
			"grounded": 0, "path_score": 0, "answers": 0, "partial": 0}},
		{"tog: whether the last look found enough", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Tessen")}, Graphs: &orchestratorv1.Run_Tog{Tog: &orchestratorv1.TogGraphs{
			Depths: []*orchestratorv1.TogDepth{{}, {Sufficient: true, Probability: new(float32(0.75))}}, ReasoningPaths: []*graphv1.ReasoningPath{walk("Tessen", 7)}}}}, Paths, map[string]float64{
			"grounded": 0, "path_score": 1, "sufficient": .75, "answers": 0, "partial": 0}},
		{"rog: its paths", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Orla")}, Graphs: &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{
			ReasoningPaths: []*graphv1.ReasoningPath{walk("Orla", .5), {}}}}}, Paths, map[string]float64{
			"grounded": 0, "path_score": .5, "answers": 0, "partial": 0}},
		{"sc: the share of samples that give the answer", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Oslo")}, Graphs: &orchestratorv1.Run_Sc{Sc: &orchestratorv1.ScGraphs{
			Samples: []*orchestratorv1.Sample{{Answers: []string{"oslo", "Oslo"}}, {Answers: []string{"Bergen"}}, {}, {Answers: []string{"Bergen", "OSLO"}}}}}}, Own, map[string]float64{
			"votes": .5, "answers": 0, "partial": 0}},
		{"io: a probability that is no number is not told", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Oslo")}, AnswerProbability: new(float32(math.NaN()))}, Own, map[string]float64{
			"answers": 0, "partial": 0}},
		{"auto: by the method that was chosen", &orchestratorv1.Run{Answers: judgedRun().GetAnswers()[:1], Graphs: &orchestratorv1.Run_Auto{Auto: &orchestratorv1.AutoGraphs{
			Method: "ger", Ger: &orchestratorv1.GerGraphs{}}}}, Paths, map[string]float64{"grounded": 1, "path_score": 0, "answers": 0, "partial": 0}},
		{"no answer", &orchestratorv1.Run{Text: "I do not know."}, "", nil},
		{"an abstention", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("x")}, Grounding: orchestratorv1.Grounding_GROUNDING_ABSTAINED}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			family, got := Features(c.run)
			if family != c.family || len(got) != len(c.want) {
				t.Errorf("%s: %v, want %s: %v", family, got, c.family, c.want)
			}
			for name, want := range c.want {
				if v, ok := got[name]; !ok || math.Abs(v-want) > 1e-6 {
					t.Errorf("%s is %g, want %g", name, v, want)
				}
				if _, known := families[c.family][name]; !known {
					t.Errorf("%s is no feature of %s", name, c.family)
				}
			}
		})
	}
}

func TestTheBuiltInWeightsKnowEveryFamilyAndSayWhereTheyAreFrom(t *testing.T) {
	m, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for name := range families {
		w := m.Families[name]
		if w == nil {
			t.Errorf("there are no weights for %s", name)
			continue
		}
		p := w.Provenance
		if p.Model == "" || p.Encoder == "" || len(p.Questions) == 0 || p.Runs < minExamples || p.Right == 0 || p.Date == "" || p.CrossValidated.Brier == 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, run := range []*orchestratorv1.Run{groundedRun(), judgedRun(), {Answers: []*orchestratorv1.Answer{answer("x")}}} {
		if c := m.Of(run); c == nil || *c < least || *c > most {
			t.Errorf("the confidence is %v", c)
		}
	}
	if c := m.Of(&orchestratorv1.Run{}); c != nil {
		t.Errorf("no answer has a confidence of %g", *c)
	}
}

func TestMoreEvidenceNeverLowersAConfidence(t *testing.T) {
	m, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for family, signs := range families {
		w := m.Families[family]
		for name, sign := range signs {
			if sign == 0 {
				continue
			}
			base := map[string]float64{}
			for other, feature := range w.Features {
				base[other] = feature.Mean
			}
			before := -1.0
			for step := range 11 {
				base[name] = float64(step) / 10
				if sign < 0 {
					base[name] = 1 - base[name]
				}
				c := w.probability(base)
				if c < before || math.IsNaN(c) {
					t.Errorf("%s: %s of %g gives %g after %g", family, name, base[name], c, before)
				}
				before = c
			}
		}
	}
}

func TestLoad(t *testing.T) {
	for _, c := range []struct{ name, file, says string }{
		{"weights of its own", `{"families": {"own": {"intercept": 50, "features": {}}}}`, ""},
		{"no JSON", `own: 1`, "invalid character"},
		{"no families", `{}`, "triplemesh calibrate"},
		{"an unknown family", `{"families": {"lost": {}}}`, `"lost"`},
		{"a family with nothing", `{"families": {"own": null}}`, `"own"`},
		{"an unknown feature", `{"families": {"own": {"features": {"luck": {"weight": 1}}}}}`, `"luck"`},
		{"a weight that turns the meaning round", `{"families": {"own": {"features": {"votes": {"weight": -1}}}}}`, "votes is -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "weights.json")
			if err := os.WriteFile(name, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := Load(name)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), name) {
					t.Errorf("got %v, want %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Of(&orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("x")}}); got == nil || *got != most {
				t.Errorf("its own family gives %v", got)
			}
			if m.Families[Graph] == nil || m.Families[Paths] == nil {
				t.Error("the other families are lost")
			}
		})
	}
	if _, err := Load("/no/such/file"); err == nil || !strings.Contains(err.Error(), "/no/such/file") {
		t.Errorf("got %v", err)
	}
}
