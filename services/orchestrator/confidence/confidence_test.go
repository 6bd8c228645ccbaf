package confidence

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

func fact(object string) *graphv1.Triple {
	return &graphv1.Triple{Subject: "Velmora", Relation: "river", Object: object}
}

func answer(name string, evidence ...*graphv1.Triple) *orchestratorv1.Answer {
	return &orchestratorv1.Answer{Answer: name, Evidence: evidence}
}

// grounded is a pg-akv run with one answer in the ground graph and one not.
func groundedRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Question:          "what rivers flow through velmora",
		Answers:           []*orchestratorv1.Answer{answer("Tessen", fact("Tessen")), answer("Po")},
		AnswerProbability: new(float32(0.5)), Partial: true,
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{GroundGraph: &graphv1.GroundGraph{
			Subjects: []*graphv1.SubjectEvidence{{
				Subject: "Velmora", Confidence: 0.8, Triples: []*graphv1.ScoredTriple{
					{Triple: fact("Tessen"), QuestionScore: 0.6}, {Triple: fact("Orla"), QuestionScore: 0.9},
				},
			}}}}},
	}
}

// followUpRun is a rag run of a question without names.
func followUpRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Question: "and what rivers flow through it", StandaloneQuestion: "what rivers flow through Velmora",
		Answers: []*orchestratorv1.Answer{answer("Tessen", fact("Tessen"))},
		Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{Hits: []*graphv1.ScoredTriple{
			{Triple: fact("Tessen"), Score: .5}}}},
	}
}

// verifiedRun is a pg-akv run whose answer the question names, with scores of all kinds.
func verifiedRun() *orchestratorv1.Run {
	source := &graphv1.Triple{Subject: "Harn", Relation: "source", Object: "Orla"}
	mouth := &graphv1.Triple{Subject: "Po", Relation: "mouth", Object: "Sea"}
	return &orchestratorv1.Run{
		Question: "Orla", Answers: []*orchestratorv1.Answer{answer("Orla", source)},
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
			GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{
				{Subject: "Harn", Confidence: .4, Triples: []*graphv1.ScoredTriple{{Triple: source, QuestionScore: .6,
					PseudoTripleScores: []float32{.1, .7}, RelationScore: proto.Float32(.2)}}},
				{Subject: "Po", Confidence: .9, Triples: []*graphv1.ScoredTriple{{Triple: mouth, QuestionScore: .8,
					RelationScore: proto.Float32(.5)}}},
			}},
			Edits: []*graphv1.Edit{{Kind: graphv1.EditKind_EDIT_KIND_ADD, After: source,
				Evidence: []*graphv1.ScoredTriple{{Triple: source}}}, {Kind: graphv1.EditKind_EDIT_KIND_KEEP,
				After: mouth}},
		}},
	}
}

func walk(to string, score float32) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: []string{"Velmora", to},
		Steps: []*graphv1.RelationStep{{Relation: "river"}}, Score: proto.Float32(score)}
}

// judgedRun is a ger run: two of three candidates were kept and judged.
func judgedRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Answers: []*orchestratorv1.Answer{answer("Tessen", fact("Tessen")), answer("Orla", fact("Orla"))},
		Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
			ReasoningPaths: []*graphv1.ReasoningPath{walk("Tessen", .4), walk("tessen", .2), walk("Orla", .2)},
			Candidates:     []*graphv1.CandidateAnswer{{Answer: "Tessen"}, {Answer: "Orla"}, {Answer: "Harn"}},
			AnswerVerdicts: []*graphv1.AnswerVerdict{
				{Answer: "Tessen", Correct: true, Probability: new(float32(0.9))}, {Answer: "Orla", Correct: true},
				{Answer: "Harn", Probability: new(float32(0.1))},
			},
			QuestionVerdict: &graphv1.QuestionVerdict{Incomplete: true},
		}},
	}
}

// rankedRun is a run of pg-akv with ranked paths that gives an answer when another was read.
func rankedRun(given, read string) *orchestratorv1.Run {
	path := func(probability float32, relation, end string) *graphv1.ReasoningPath {
		return &graphv1.ReasoningPath{Entities: []string{"Velmora", end}, Probability: &probability,
			Score: proto.Float32(probability / 2),
			Steps: []*graphv1.RelationStep{{Relation: relation}}}
	}
	g := &orchestratorv1.PgAkvGraphs{ReasoningPaths: []*graphv1.ReasoningPath{path(0.5, "river", "Orla"),
		path(0.5, "river", "Tessen"), path(0.2, "stream", "Orla"), path(0.2, "lake", "Harn")}}
	g.GroundGraph = &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Triples: []*graphv1.ScoredTriple{
		{Triple: fact(given), QuestionScore: .6}, {Triple: fact(given), QuestionScore: .4},
		{Triple: fact("Tessen"), QuestionScore: .9}}}}}
	g.Reflections = []*reflectorv1.Reflection{{Answer: read, Decision: reflectorv1.Decision_DECISION_DROP}}
	if given == read {
		g.Reflections[0].Decision = reflectorv1.Decision_DECISION_KEEP
	}
	return &orchestratorv1.Run{Question: "what rivers", Answers: []*orchestratorv1.Answer{answer(given)},
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: g}}
}

// rankedGerRun is rankedRun by ger, with a verdict on the answer.
func rankedGerRun(given, candidate string) *orchestratorv1.Run {
	run := rankedRun(given, candidate)
	run.Graphs = &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
		ReasoningPaths: run.GetPgAkv().GetReasoningPaths(),
		Candidates:     []*graphv1.CandidateAnswer{{Answer: candidate}},
		AnswerVerdicts: []*graphv1.AnswerVerdict{{Answer: given, Probability: proto.Float32(.75)}},
	}}
	return run
}

// readBy sets the share of readings that are right.
func readBy(run *orchestratorv1.Run, share float32) *orchestratorv1.Run {
	if g := run.GetGer(); g != nil {
		g.ReadingShare = share
	} else {
		run.GetPgAkv().ReadingShare = share
	}
	return run
}

func TestFeatures(t *testing.T) {
	for _, c := range []struct {
		name   string
		run    *orchestratorv1.Run
		family string
		want   map[string]float64
	}{
		{"pg-akv: the group that lists the first answer", groundedRun(), Graph, map[string]float64{
			"grounded": 1, "named": 1, "asked": 0, "words": 1, "size": math.Log(2) / math.Log(1000), "share": .5,
			"covered": .5, "length": math.Log(5) / math.Log(31), "groups": math.Log(4) / math.Log(201),
			"question_score": .9, "question_lead": 1, "question_rank": 0, "subject_confidence": .8, "forward": 1,
			"probability": .5, "answers": math.Log(2), "partial": 1}},
		{"pg-akv: scores of the draft and of the relation, and what verification did", verifiedRun(), Graph,
			map[string]float64{
				"grounded": 1, "named": 0, "asked": 1, "words": 0, "size": 0, "share": 1, "covered": 1,
				"length": math.Log(2) / math.Log(31), "groups": math.Log(5) / math.Log(201),
				"question_score": .6, "question_lead": .8, "question_rank": .5, "draft_score": .7,
				"relation_score": .2, "relation_lead": .7, "relation_rank": .5, "subject_confidence": .4, "forward": 1,
				"verified": .5, "answers": 0, "partial": 0}},
		{"pg-akv: nothing names the answer", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Po")},
			Graphs: &orchestratorv1.Run_PgAkv{}}, Graph, map[string]float64{
			"grounded": 0, "named": 0, "asked": 0, "length": 0, "groups": 0, "answers": 0, "partial": 0}},
		{"a follow-up names what it stands for", followUpRun(), Graph, map[string]float64{
			"grounded": 1, "named": 1, "asked": 0, "words": 1, "size": 0, "share": 1, "covered": 1,
			"length": math.Log(5) / math.Log(31), "groups": math.Log(3) / math.Log(201), "question_score": .5,
			"question_lead": 1, "question_rank": 0, "forward": 1, "answers": 0, "partial": 0}},
		{"ger: the path to the first answer, its verdict, and what was kept", judgedRun(), Paths, map[string]float64{
			"grounded": 1, "named": 0, "asked": 0, "words": 0, "size": math.Log(2) / math.Log(1000), "share": 1,
			"covered": 1, "length": 0, "groups": math.Log(2) / math.Log(201), "path_score": .4, "path_lead": 1,
			"path_rank": 0, "hops": .25, "verdict": .9, "set_right": 0, "incomplete": 1, "kept": 2. / 3,
			"answers": math.Log(2), "partial": 0}},
		{"ger: verdicts that could not be had say nothing",
			&orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Tessen")},
				Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
					AnswerVerdicts: []*graphv1.AnswerVerdict{{Answer: "Tessen", Unknown: true}}}}}, Paths,
			map[string]float64{
				"grounded": 0, "named": 0, "asked": 0, "length": 0, "groups": 0, "answers": 0, "partial": 0}},
		{"tog: whether the last look found enough",
			&orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Tessen")},
				Graphs: &orchestratorv1.Run_Tog{Tog: &orchestratorv1.TogGraphs{
					Depths:         []*orchestratorv1.TogDepth{{}, {Sufficient: true, Probability: new(float32(0.75))}},
					ReasoningPaths: []*graphv1.ReasoningPath{walk("Tessen", 7)}}}}, Paths, map[string]float64{
				"grounded": 1, "named": 0, "asked": 0, "words": 0, "size": 0, "share": 1, "covered": 1, "length": 0,
				"groups": math.Log(2) / math.Log(201), "path_score": 1, "path_lead": 1, "path_rank": 0, "hops": .25,
				"sufficient": .75, "answers": 0, "partial": 0}},
		{"rog: its paths", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Orla")},
			Graphs: &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{
				ReasoningPaths: []*graphv1.ReasoningPath{walk("Orla", .5), {}}}}}, Paths, map[string]float64{
			"grounded": 1, "named": 0, "asked": 0, "words": 0, "size": 0, "share": 1, "covered": 1, "length": 0,
			"groups": math.Log(2) / math.Log(201), "path_score": .5, "path_lead": 1, "path_rank": 0, "hops": .25,
			"answers": 0, "partial": 0}},
		{"sc: the share of samples that give the answer",
			&orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Oslo")},
				Graphs: &orchestratorv1.Run_Sc{Sc: &orchestratorv1.ScGraphs{
					Samples: []*orchestratorv1.Sample{{Answers: []string{"oslo", "Oslo"}},
						{Answers: []string{"Bergen"}},
						{},
						{Answers: []string{"Bergen", "OSLO"}}}}}}, Own, map[string]float64{
				"votes": .5, "answers": 0, "partial": 0}},
		{"io: a probability that is no number is not told",
			&orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("Oslo")},
				AnswerProbability: new(float32(math.NaN()))}, Own, map[string]float64{
				"answers": 0, "partial": 0}},
		{"pg-akv by ranked paths: an answer that the model read too", rankedRun("Orla", "Orla"), Ranked,
			map[string]float64{"mass": 0.35, "peak": 0.25, "rival": 0.1, "read": 1, "agreed": 1,
				"question_score": .6,
				"size":           math.Log(2) / math.Log(maxSize), "inverse": 0, "unasked": 0, "asked": 0,
				"answers": 0, "partial": 0}},
		{"pg-akv by ranked paths: an answer that only paths lead to", rankedRun("Orla", "Harn"), Ranked,
			map[string]float64{"mass": 0.35, "peak": 0.25, "rival": 0.1, "read": 0, "agreed": 0,
				"question_score": .6,
				"size":           math.Log(2) / math.Log(maxSize), "inverse": 0, "unasked": 0, "asked": 0,
				"answers": 0, "partial": 0}},
		{"ger by ranked paths: a candidate with a verdict", rankedGerRun("Orla", "Orla"), RankedPaths,
			map[string]float64{"mass": 0.35, "peak": 0.25, "rival": 0.1, "read": 1, "agreed": 1, "verdict": .75,
				"size": math.Log(2) / math.Log(maxSize), "inverse": 0, "unasked": 0, "asked": 0,
				"answers": 0, "partial": 0}},
		{"pg-akv by ranked paths with a strong reader", readBy(rankedRun("Orla", "Orla"), 0.85), Ranked + Strong,
			map[string]float64{"mass": 0.35, "peak": 0.25, "rival": 0.1, "read": 1, "agreed": 1,
				"question_score": .6,
				"size":           math.Log(2) / math.Log(maxSize), "inverse": 0, "unasked": 0, "asked": 0,
				"answers": 0, "partial": 0}},
		{"ger by ranked paths with a strong reader", readBy(rankedGerRun("Orla", "Orla"), 0.85), RankedPaths + Strong,
			map[string]float64{"mass": 0.35, "peak": 0.25, "rival": 0.1, "read": 1, "agreed": 1, "verdict": .75,
				"size": math.Log(2) / math.Log(maxSize), "inverse": 0, "unasked": 0, "asked": 0,
				"answers": 0, "partial": 0}},
		{"no answer", &orchestratorv1.Run{Text: "I do not know."}, "", nil},
		{"an abstention", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("x")},
			Grounding: orchestratorv1.Grounding_GROUNDING_ABSTAINED}, "", nil},
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

func TestAReaderWhoIsRightMoreOftenIsBelievedMore(t *testing.T) {
	m, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]*orchestratorv1.Run{
		"pg-akv": groundedRun(), "pg-akv by ranked paths": rankedRun("Orla", "Orla"),
		"ger": rankedGerRun("Orla", "Orla"),
	} {
		_, values := Features(readBy(run, fittedShare))
		family, _ := Features(run)
		if got, want := *m.Estimate(run), float32(m.Families[family].Probability(values)); got != want {
			t.Errorf("%s: a reader as those of the fit gives %g, want %g", name, got, want)
		}
		last := float32(0)
		for _, share := range []float32{0.6, 0.85, 0.95, 1} {
			c := *m.Estimate(readBy(run, share))
			if c <= last && last < most || c > most {
				t.Errorf("%s: a reader who is right in %g of its readings gives %g after %g", name, share, c, last)
			}
			last = c
		}
	}
}

func TestEmbeddedWeightsCoverEveryFamilyWithProvenance(t *testing.T) {
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
		if p.Model == "" || p.Encoder == "" || len(p.Questions) == 0 || p.Runs < 20 || p.Right == 0 ||
			p.Date == "" || p.CrossValidated.Brier == 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, run := range []*orchestratorv1.Run{groundedRun(), judgedRun(),
		{Answers: []*orchestratorv1.Answer{answer("x")}}} {
		if c := m.Estimate(run); c == nil || *c < least || *c > most {
			t.Errorf("the confidence is %v", c)
		}
	}
	if c := m.Estimate(&orchestratorv1.Run{}); c != nil {
		t.Errorf("no answer has a confidence of %g", *c)
	}
}

func TestMoreEvidenceNeverLowersTheConfidence(t *testing.T) {
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
				c := w.Probability(base)
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
		{"no families", `{}`, "go run ./lab/confidence"},
		{"an unknown family", `{"families": {"lost": {}}}`, `"lost"`},
		{"a family with nothing", `{"families": {"own": null}}`, `"own"`},
		{"an unknown feature", `{"families": {"own": {"features": {"luck": {"weight": 1}}}}}`, `"luck"`},
		{"a weight that turns the meaning round", `{"families": {"own": {"features": {"votes": {"weight": -1}}}}}`,
			"votes is -1"},
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
			if got := m.Estimate(&orchestratorv1.Run{Answers: []*orchestratorv1.Answer{answer("x")}}); got == nil ||
				*got != most {
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

func TestAComputedAnswerIsAsSureAsItsPlan(t *testing.T) {
	m, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		grounding orchestratorv1.Grounding
		limits    []string
		want      float32
	}{
		{"as its alignment", orchestratorv1.Grounding_GROUNDING_GROUNDED, nil, .9},
		{"a lower bound", orchestratorv1.Grounding_GROUNDING_GROUNDED, []string{"400000 triples were read"}, bounded},
		{"a plan that may ask for something else", orchestratorv1.Grounding_GROUNDING_RELATED, nil, doubted},
	} {
		got := m.Estimate(&orchestratorv1.Run{Grounding: c.grounding, Answers: []*orchestratorv1.Answer{answer("5")},
			Graphs: &orchestratorv1.Run_Query{Query: &orchestratorv1.QueryGraphs{Alignment: .9,
				Table: &graphv1.QueryTable{Value: "5", Limits: c.limits}}}})
		if got == nil || *got != c.want {
			t.Errorf("%s: got %v, want %g", c.name, got, c.want)
		}
	}
}
