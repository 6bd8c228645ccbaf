package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/report/reporttest"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// evaluations returns results of pg-akv, with a Hit of 0.75 and 2 calls a question,
// and of ger without reflection, which is not finished.
func evaluations(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	lines := reporttest.Lines(20, func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
		if i%4 == 0 {
			return reporttest.PgAkv(q, reporttest.InHits, 3), nil
		}
		return reporttest.PgAkv(q, reporttest.InAnswer, 3), nil
	})
	reporttest.Write(t, root, reporttest.Manifest("zsre", "wikidata", "pg-akv"), lines...)
	m := reporttest.Manifest("zsre", "wikidata", "ger")
	m.Options.Ablation, m.Asked = "no-reflection", 40
	reporttest.Write(t, root, m, lines...)
	return root
}

func card(t *testing.T, thresholds ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "card.yaml")
	text := "thresholds:\n"
	for _, line := range thresholds {
		text += "  - {" + line + "}\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestThresholds(t *testing.T) {
	root := evaluations(t)
	const it = "dataset: zsre, kg: wikidata, method: pg-akv, "
	tests := []struct {
		name, threshold, says string
		missed, unknown       bool
	}{
		{"a figure above its bound passes", it + "metric: hit, at_least: 0.7", "pass", false, false},
		{"a figure at its bound passes", it + "metric: hit, at_least: 0.75", "pass", false, false},
		{"a figure below its bound misses", it + "metric: hit, at_least: 0.76", "miss", true, false},
		{"the lower bound of the interval can be asked for", it + "metric: hit, at_least: 0.7, interval: low",
			"miss", true, false},
		{"a cost under its bound passes", it + "metric: calls_per_question, at_most: 2", "pass", false, false},
		{"a cost above its bound misses", it + "metric: calls_per_question, at_most: 1.9", "miss", true, false},
		{"the upper bound of the interval can be asked for", it + "metric: hit, at_most: 0.8, interval: high",
			"miss", true, false},
		{"failures can be bounded", it + "metric: errors, at_most: 0", "pass", false, false},
		{"questions can be counted", it + "metric: n, at_least: 20", "pass", false, false},
		{"the knowledge graph may be left out", "dataset: zsre, method: pg-akv, metric: hit, at_least: 0.7",
			"pass", false, false},
		{"results of another knowledge graph are none", "dataset: zsre, kg: freebase, method: pg-akv, metric: hit, " +
			"at_least: 0.7", "there are no results of it", false, true},
		{"results of gold entities are none of linked ones", it + "metric: hit, at_least: 0.7, gold_entities: true",
			"there are no results of it", false, true},
		{"a figure that the method does not come to is none", it + "metric: answer_in_paths, at_least: 0.7",
			"have no answer_in_paths", false, true},
		{"an evaluation under way is not compared", "dataset: zsre, method: ger no-reflection, metric: hit, " +
			"at_least: 0", "not finished: 20 of 40", false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := (&ScorecardCommand{File: card(t, test.threshold), Dirs: []string{root}}).Run(&out)
			var missed *MissedThresholdError
			var usage *UsageError
			if errors.As(err, &missed) != test.missed || errors.As(err, &usage) != test.unknown ||
				(err != nil) != (test.missed || test.unknown) {
				t.Errorf("the error is %v", err)
			}
			if !strings.Contains(out.String(), test.says) {
				t.Errorf("printed %q, want %q in it", out.String(), test.says)
			}
		})
	}
}

func TestResultsThatAreMissingWeighMoreThanOnesMissed(t *testing.T) {
	file := card(t, "dataset: zsre, method: pg-akv, metric: hit, at_least: 0.9",
		"dataset: webq, method: pg-akv, metric: hit, at_least: 0.9")
	err := (&ScorecardCommand{File: file, Dirs: []string{evaluations(t)}}).Run(new(bytes.Buffer))
	var usage *UsageError
	if !errors.As(err, &usage) || err.Error() != "1 of 2 thresholds could not be compared, 1 missed" {
		t.Errorf("the error is %v", err)
	}
}

func TestSeveralResultsOfOneThresholdAreNamed(t *testing.T) {
	err := (&ScorecardCommand{File: card(t, "dataset: zsre, method: pg-akv, metric: hit, at_least: 0.1"),
		Dirs: []string{evaluations(t), evaluations(t)}, JSON: true}).Run(new(bytes.Buffer))
	var usage *UsageError
	if !errors.As(err, &usage) {
		t.Errorf("the error is %v", err)
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	err := (&ScorecardCommand{File: card(t, "dataset: zsre, method: pg-akv, metric: hit, at_least: 0.9"),
		Dirs: []string{evaluations(t)}, JSON: true}).Run(&out)
	var got struct{ Thresholds []ThresholdCheck }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if c := got.Thresholds[0]; err == nil || c.Pass || c.Got.Value != 0.75 || *c.AtLeast != 0.9 || c.Dataset != "zsre" {
		t.Errorf("the check is %+v (%v)", c, err)
	}
}

func TestBadScorecardsAreRefusedByLine(t *testing.T) {
	const it = "dataset: zsre, method: pg-akv, metric: hit, "
	tests := []struct{ name, text, want string }{
		{"an empty file", "", "has no thresholds"},
		{"no list", "thresholds: 3", "line 1"},
		{"a misspelt key", "thresholds:\n  - {" + it + "at_leest: 1}",
			"line 2: field at_leest is no key of a scorecard"},
		{"a misspelt key at the top", "treshholds: []", "line 1: field treshholds is no key of a scorecard"},
		{"no dataset", "thresholds:\n\n  - {method: io, metric: hit, at_least: 1}", "line 3: dataset: missing"},
		{"no method", "thresholds:\n  - {dataset: zsre, metric: hit, at_least: 1}", "line 2: method: missing"},
		{"an unknown metric", "thresholds:\n  - {dataset: zsre, method: io, metric: hits, at_least: 1}",
			`line 2: metric: there is no "hits"; choose one of n, errors, f1,`},
		{"no bound", "thresholds:\n  - {dataset: zsre, method: io, metric: hit}",
			"line 2: give either at_least or at_most"},
		{"two bounds", "thresholds:\n  - {" + it + "at_least: 0, at_most: 1}",
			"line 2: give either at_least or at_most"},
		{"a bound that is no number", "thresholds:\n  - {" + it + "at_least: much}", "line 2"},
		{"an unknown interval", "thresholds:\n  - {" + it + "at_least: 1, interval: wide}",
			`line 2: interval: must be low or high, is "wide"`},
		{"the wrong end of the interval", "thresholds:\n  - {" + it + "at_least: 1, interval: high}",
			"line 2: interval: high goes with at_most"},
		{"two documents", "thresholds: []\n---\nthresholds: []", "more than one YAML document"},
		{"no YAML", "thresholds: [", "line 1"},
		{"every bad place is named", "thresholds:\n  - {method: io, metric: hit, at_least: 1}\n  - {dataset: zsre, " +
			"metric: hit, at_least: 1}", "line 3: method"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	root := evaluations(t)
	good := card(t, "dataset: zsre, method: pg-akv, metric: hit, at_least: 0.1")
	tests := []struct {
		name string
		c    ScorecardCommand
		want string
	}{
		{"a scorecard that is not there", ScorecardCommand{File: good + "x", Dirs: []string{root}}, "read scorecard"},
		{"a directory without results", ScorecardCommand{File: good, Dirs: []string{t.TempDir()}}, "no results"},
		{"a tolerance below 0", ScorecardCommand{File: good, Dirs: []string{root}, Tolerance: -1}, "--tolerance"},
		{"a bad scorecard is not written over", ScorecardCommand{File: card(t, "dataset: zsre"), Dirs: []string{root},
			Update: true}, "line 2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.c.Run(new(bytes.Buffer))
			var usage *UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one of usage with %q", err, test.want)
			}
		})
	}
}

func TestUpdateWritesAScorecardThatPasses(t *testing.T) {
	root := evaluations(t)
	path := filepath.Join(t.TempDir(), "card.yaml")
	if err := (&ScorecardCommand{File: path, Dirs: []string{root}, Update: true, Tolerance: 0.02}).Run(
		new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	thresholds, err := ReadThresholds(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, th := range thresholds {
		got = append(got, fmt.Sprintf("%s %s %s %s", th.Dataset, th.Method, th.Metric, th.describe()))
	}
	want := []string{"zsre pg-akv hit at least 0.73", "zsre pg-akv f1 at least 0.73",
		"zsre pg-akv calls_per_question at most 2.04"}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("thresholds are %q, want %q", got, want)
	}
	if err := (&ScorecardCommand{File: path, Dirs: []string{root}}).Run(new(bytes.Buffer)); err != nil {
		t.Errorf("what was written does not pass: %v", err)
	}
}

func TestUpdateKeepsWhatPeopleWrote(t *testing.T) {
	root := evaluations(t)
	path := filepath.Join(t.TempDir(), "card.yaml")
	text := `# Ours.
thresholds:
  # The promise of the README.
  - dataset: zsre
    method: pg-akv
    metric: hit
    at_least: 0.9 # too much
    interval: low
  - {dataset: webq, method: pg-akv, metric: hit, at_least: 0.5}
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&ScorecardCommand{File: path, Dirs: []string{root}, Update: true}).Run(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "thresholds: 1 changed, 0 added") {
		t.Errorf("printed %q", out.String())
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, "0.9 #", "0.55 #", 1)
	if string(got) != want {
		t.Errorf("the scorecard is\n%s\nwant\n%s", got, want)
	}
	if err := (&ScorecardCommand{File: path, Dirs: []string{root}, Update: true}).Run(&out); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, got) {
		t.Errorf("a second update changes it to\n%s (%v)", again, err)
	}
}

func TestUpdateLeavesOutCallsThatTheCacheAnswered(t *testing.T) {
	root := t.TempDir()
	m := reporttest.Manifest("zsre", "", "io")
	reporttest.Write(t, root, m, reporttest.Lines(3, func(_ int, q dataset.Question) (*orchestratorv1.Run, error) {
		run := reporttest.IO(q, q.Answers[0])
		run.Usage.Calls, run.Usage.CachedCalls = 0, 1
		return run, nil
	})...)
	path := filepath.Join(t.TempDir(), "card.yaml")
	if err := (&ScorecardCommand{File: path, Dirs: []string{root}, Update: true}).Run(new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "calls_per_question") {
		t.Errorf("the scorecard is\n%s (%v)", text, err)
	}
}

func TestEveryFigureIsAMetric(t *testing.T) {
	known := strings.Join(metrics(), " ")
	for _, f := range results.Figures() {
		if !strings.Contains(known, f.Key) {
			t.Errorf("%s is no metric", f.Key)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("thresholds:\n  - {dataset: a, method: b, metric: hit, at_least: 0.5, interval: low}\n")
	f.Add("thresholds: [&a {dataset: a}, *a, null]")
	f.Add("thresholds:\n  - 3\n---\n")
	f.Add("<<: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		thresholds, err := parse([]byte(text))
		if err != nil {
			return
		}
		for _, th := range thresholds {
			if (th.AtLeast == nil) == (th.AtMost == nil) || th.Metric == "" {
				t.Errorf("%q gives %+v", text, th)
			}
		}
	})
}
