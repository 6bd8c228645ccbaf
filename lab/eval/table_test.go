package eval

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/leak"
	"github.com/triplemesh/triplemesh/lab/results"
	"github.com/triplemesh/triplemesh/lab/score"
)

// newJudged returns an evaluation of which the questions a, b, … were right, wrong or,
// if there is a blank, not asked.
func newJudged(t *testing.T, method, verdicts string) *evaluation {
	t.Helper()
	m := testManifest()
	m.Method, m.Snapshot, m.Leak = method, 7, &results.Leak{Examples: 31}
	j, err := results.Resume("", m)
	if err != nil {
		t.Fatal(err)
	}
	e := &evaluation{name: "q-wikidata-" + method, questions: nQuestions(len(verdicts)), manifest: m, journal: j}
	for i, verdict := range verdicts {
		measures := &results.Measures{
			Answered: true, Cost: results.Cost{Calls: 2, PromptTokens: 100, CompletionTokens: 10, Milliseconds: 1500},
			Stages: map[string]results.Cost{"answer": {Calls: 2, PromptTokens: 100, CompletionTokens: 10,
				Milliseconds: 1400}},
		}
		switch verdict {
		case ' ':
			continue
		case '+':
			measures.Scores = score.Scores{Hit: 1, HitsAt1: 1, F1: 1}
		case 'x':
			measures = nil
		}
		record := results.Record{ID: e.questions[i].ID, Measures: measures}
		if measures == nil {
			record.Failure = &results.Failure{Code: "Internal"}
		}
		if err := j.Add(results.Line{Record: record}); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func TestPageOfOneEvaluation(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := writeSums(&out, sumUp([]*evaluation{newJudged(t, "io", "+-x ")}), false); err != nil {
		t.Fatal(err)
	}
	const want = `io on wikidata@7, 3 of 4 questions of q by seed 1

F1                               33.3 %  0.0 % to 100.0 %
Hits@1                           33.3 %  0.0 % to 100.0 %  the first answer is right
Hit                              33.3 %  0.0 % to 100.0 %  papers call it "Hits@1"
Precision                        0.0 %   0.0 % to 0.0 %
Recall                           0.0 %   0.0 % to 0.0 %
F1 by RoG's formula              0.0 %   0.0 % to 0.0 %    for comparison with published figures; can be above 1
Exact match                      0.0 %   0.0 % to 0.0 %
Calls of the method a question   2.0     2.0 to 2.0        cached ones included
Tokens of the method a question  110.0   110.0 to 110.0    read and written, those of cached calls included
Calls a question                 2.0     2.0 to 2.0        that reached a model; tokens, cost and times are theirs
Prompt tokens a question         100.0   100.0 to 100.0
Completion tokens a question     10.0    10.0 to 10.0
Median time                      1.50 s  1.50 s to 1.50 s
95th percentile                  1.50 s  1.50 s to 1.50 s
Failed questions                 1                         counted as wrong; the same command asks them again

What stages take of a question, cached calls included

Stage   Runs  Calls  Cached  Prompt tokens  Completion tokens  Median  95th percentile
answer  2     2.0    0.0     100.0          10.0               1.40 s  1.40 s

None of the 31 few-shot examples is among the questions.
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableOfSeveralEvaluationsComparesThemWithTheFirst(t *testing.T) {
	t.Parallel()
	sums := sumUp([]*evaluation{newJudged(t, "io", "--------"), newJudged(t, "ger", "+++++++-")})
	var out bytes.Buffer
	if err := writeSums(&out, sums, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Questions  KG          Method  Entities  N  Failed  F1",
		"q          wikidata@7  io      none      8  0       0.0 % (0.0–0.0)",
		"q          wikidata@7  ger     linked    8  0       87.5 % (62.5–100.0)",
		"F1 +87.5 (+62.5–+100.0), p 0.016",
		"In brackets: 95 % bootstrap intervals,",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestOnlyWhatAsksTheSameIsCompared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*results.Manifest)
		want   bool
	}{
		{"another method", func(m *results.Manifest) { m.Method = "ger" }, true},
		{"an ablation", func(m *results.Manifest) { m.Options.Ablation = "no-reflection" }, true},
		{"other questions", func(m *results.Manifest) { m.Dataset.SHA256 = "def" }, false},
		{"another knowledge graph", func(m *results.Manifest) { m.KG = "freebase" }, false},
		{"gold entities", func(m *results.Manifest) { m.GoldEntities = true }, false},
		{"another knowledge graph beside", func(m *results.Manifest) { m.OtherKGs = []results.KG{{Name: "freebase"}} },
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := testManifest()
			c.change(&m)
			if got := sameQuestions(testManifest(), m); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestComparisonIsOverTheQuestionsThatBothWereAsked(t *testing.T) {
	t.Parallel()
	sums := sumUp([]*evaluation{newJudged(t, "io", "+-  +"), newJudged(t, "ger", "++x- ")})
	hit := sums[1].Against.Figures["hit"]
	if hit.Better != 1 || hit.Same != 1 || hit.Worse != 0 || hit.Difference.N != 2 ||
		sums[1].Against.First != "q-wikidata-io" {
		t.Errorf("got %+v", hit)
	}
}

func TestJSONHasEveryFigureOfEveryEvaluation(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := writeSums(&out, sumUp([]*evaluation{newJudged(t, "io", "+-"), newJudged(t, "ger", "++")}),
		true); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Evaluations []struct {
			Name     string
			Manifest results.Manifest
			Summary  map[string]json.RawMessage
			Against  *struct {
				First   string
				Figures map[string]struct{ P float64 }
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	first, second := got.Evaluations[0], got.Evaluations[1]
	if first.Manifest.Method != "io" || first.Against != nil || second.Against.First != "q-wikidata-io" ||
		second.Against.Figures["hit"].P != 1 {
		t.Errorf("got %s", out.String())
	}
	for _, f := range results.Figures() {
		if _, there := second.Summary[f.Key]; !there {
			t.Errorf("key %s is missing", f.Key)
		}
	}
}

var testPrompts = []leak.Prompts{{Stage: "generator", Files: fstest.MapFS{"plan.yaml": {
	Data: []byte("examples:\n  - data: {Question: \"Which sea does the Tessen reach?\"}\n")}}}}

func TestLeaksAreNotedAndWarnedOf(t *testing.T) {
	t.Parallel()
	examples, err := leak.FewShot(testPrompts)
	if err != nil {
		t.Fatal(err)
	}
	leaky := []dataset.Question{
		{ID: "1", Question: "an unheard question of no example?", Answers: []string{"a"}},
		{ID: "2", Question: strings.ToUpper(examples.Texts[0].Question), Answers: []string{"a"}},
	}
	e := &evaluation{questions: leaky, manifest: testManifest()}
	var stderr bytes.Buffer
	if err := checkLeaks(testPrompts, []*evaluation{e, {questions: leaky, manifest: testManifest()}}, nil, "",
		&stderr); err != nil {
		t.Fatal(err)
	}
	found := e.manifest.Leak
	if found.Examples != len(examples.Texts) || len(found.Pairs) == 0 || found.Pairs[0].ID != "2" ||
		found.Pairs[0].Stage == "" {
		t.Errorf("found %+v", found)
	}
	if got := stderr.String(); strings.Count(got, "warning:") != 1 || !strings.Contains(got, "questions of q") {
		t.Errorf("warned\n%s", got)
	}
	clean := &evaluation{questions: leaky[:1], manifest: testManifest()}
	stderr.Reset()
	if err := checkLeaks(testPrompts, []*evaluation{clean}, nil, "", &stderr); err != nil || stderr.Len() > 0 ||
		len(clean.manifest.Leak.Pairs) > 0 {
		t.Errorf("error %v, %+v, warned %q", err, clean.manifest.Leak, stderr.String())
	}
}

func TestQuestionsThatSomethingWasCalibratedOnAreFoundAmongThoseAsked(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "dev.jsonl")
	lines := `{"id": "17", "question": "Who wrote The Quiet Harbour?", "answers": ["x"]}` + "\n" +
		`{"id": "18", "question": "Where does the Tessen end?", "answers": ["x"]}` + "\n"
	if err := os.WriteFile(file, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	e := &evaluation{manifest: testManifest(), questions: []dataset.Question{{ID: "1",
		Question: "who wrote the quiet harbour"}, {ID: "2", Question: "Who mended the lighthouse of Vell?"}}}
	var stderr bytes.Buffer
	if err := checkLeaks(testPrompts, []*evaluation{e}, []string{file}, "all", &stderr); err != nil {
		t.Fatal(err)
	}
	found := e.manifest.Leak
	if found.Calibration != 2 || len(found.Pairs) != 1 || found.Pairs[0].Stage != "calibration/dev.jsonl 17" ||
		found.Pairs[0].ID != "1" {
		t.Errorf("found %+v", found)
	}
	if !strings.Contains(stderr.String(), "calibration/dev.jsonl 17") {
		t.Errorf("said %q", stderr.String())
	}
	if err := checkLeaks(testPrompts, []*evaluation{e}, []string{filepath.Join(t.TempDir(), "none")}, "",
		&stderr); err == nil {
		t.Error("a file that is not there is no error")
	}
}
