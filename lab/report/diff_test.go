package report

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/report/reporttest"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// writeDiffResults writes results by pg-akv in which the answers come as far as kept says.
func writeDiffResults(t *testing.T, name string, change func(*results.Manifest), kept ...reporttest.Depth) string {
	t.Helper()
	m := reporttest.Manifest("zsre", "wikidata", "pg-akv")
	if change != nil {
		change(&m)
	}
	return reporttest.Write(t, filepath.Join(t.TempDir(), name), m,
		reporttest.Lines(len(kept), func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
			if kept[i] < 0 {
				return nil, status.Error(codes.Unavailable, "down")
			}
			return reporttest.PgAkv(q, kept[i], 3), nil
		})...)
}

func compareDirs(t *testing.T, a, b string) *Diff {
	t.Helper()
	one, err := OpenEvaluation(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := OpenEvaluation(b)
	if err != nil {
		t.Fatal(err)
	}
	d, err := CompareEvaluations(one, other)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ids(changes []DiffChange) string {
	var out []string
	for _, c := range changes {
		text := c.ID
		if c.LostA != "" || c.LostB != "" {
			text += ": " + orRight(c.LostA) + " → " + orRight(c.LostB)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func TestQuestionsAreBetterAndWorse(t *testing.T) {
	a := writeDiffResults(t, "a", nil, reporttest.InNothing, reporttest.InAnswer, reporttest.InAnswer,
		reporttest.InHits, -1)
	b := writeDiffResults(t, "b", nil, reporttest.InAnswer, reporttest.InGround, reporttest.InAnswer,
		reporttest.InGround,
		reporttest.InAnswer)
	d := compareDirs(t, a, b)
	if got, want := ids(d.Better), "q00000: not found → right; q00004: failed → right"; got != want {
		t.Errorf("better are %q, want %q", got, want)
	}
	if got, want := ids(d.Worse), "q00001: right → edited out"; got != want {
		t.Errorf("worse are %q, want %q", got, want)
	}
	if len(d.Up)+len(d.Down) != 0 {
		t.Errorf("up are %v, down are %v", d.Up, d.Down)
	}
	hit := d.Scores[slices.IndexFunc(d.Scores, func(s DiffScore) bool { return s.Key == "hit" })]
	if d.Scores[0].Key != "f1" || hit.A != .4 || math.Abs(hit.B-.6) > 1e-9 ||
		math.Abs(hit.Difference.Value-.2) > 1e-9 ||
		hit.Difference.Low > hit.Difference.Value || hit.P != 1 {
		t.Errorf("the Hit is %+v", hit)
	}
	if len(d.Warnings) != 0 {
		t.Errorf("warned of %q", d.Warnings)
	}
}

func TestF1RisesAndFallsWithTheSameOutcome(t *testing.T) {
	lines := func(answers ...string) []results.Line {
		return reporttest.Lines(2, func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
			run := reporttest.IO(q, q.Answers[0])
			for _, more := range answers[i : i+1] {
				if more != "" {
					run.Answers = append(run.Answers, &orchestratorv1.Answer{Answer: more})
				}
			}
			return run, nil
		})
	}
	m := reporttest.Manifest("zsre", "", "io")
	d := compareDirs(t, reporttest.Write(t, t.TempDir(), m, lines("", "wrong too")...),
		reporttest.Write(t, t.TempDir(), m,
			lines("wrong too", "")...))
	if ids(d.Up) != "q00001" || ids(d.Down) != "q00000" || len(d.Better)+len(d.Worse) != 0 {
		t.Errorf("up are %q, down are %q", ids(d.Up), ids(d.Down))
	}
}

func TestWhatDiffersBesidesIsWarnedOf(t *testing.T) {
	tests := []struct {
		name   string
		change func(*results.Manifest)
		want   string
	}{
		{"another snapshot", func(m *results.Manifest) { m.Snapshot = 2 },
			"different knowledge graphs or snapshots: wikidata@1 there, wikidata@2 here"},
		{"another knowledge graph", func(m *results.Manifest) { m.KG = "freebase" },
			"different knowledge graphs or snapshots: wikidata@1 there, freebase@1 here"},
		{"another encoder", func(m *results.Manifest) { m.Encoder = "other" },
			"different encoders: all-MiniLM-L6-v2 there, other here"},
		{"another model", func(m *results.Manifest) { m.Models = []string{"large"} },
			"different models: small-model there, large here"},
		{"another version", func(m *results.Manifest) { m.Version = "v2" },
			"different versions of triplemesh: v1.2.3 there, v2 here"},
		{"gold entities", func(m *results.Manifest) { m.GoldEntities = true },
			"different topic entities: linked there, gold here"},
		{"another file of the same questions", func(m *results.Manifest) { m.Dataset.SHA256 = "00" },
			"the questions are from different files: zsre there, zsre here"},
	}
	a := writeDiffResults(t, "a", nil, reporttest.InAnswer, reporttest.InAnswer)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := compareDirs(t, a, writeDiffResults(t, "b", test.change, reporttest.InAnswer, reporttest.InAnswer))
			if got := strings.Join(d.Warnings, "; "); got != test.want {
				t.Errorf("warned of %q, want %q", got, test.want)
			}
		})
	}
}

func TestOnlyCommonQuestionsAreCompared(t *testing.T) {
	d := compareDirs(t, writeDiffResults(t, "a", nil, reporttest.InAnswer, reporttest.InAnswer, reporttest.InAnswer),
		writeDiffResults(t, "b", nil, reporttest.InNothing))
	if d.Common != 1 || len(d.Worse) != 1 || d.Scores[0].A != 1 || d.Scores[0].B != 0 {
		t.Errorf("%d questions in common, worse are %q, the Hit is %+v", d.Common, ids(d.Worse), d.Scores[0])
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "only the 1 questions") {
		t.Errorf("warned of %q", d.Warnings)
	}
}

func TestQuestionsOfOneIDAndAnotherTextAreNotCompared(t *testing.T) {
	other := reporttest.Manifest("webq", "wikidata", "pg-akv")
	q := reporttest.Question(0)
	q.Question = "Another question?"
	a := writeDiffResults(t, "a", nil, reporttest.InAnswer)
	b := reporttest.Write(t, t.TempDir(), other, results.NewLine(q, nil, reporttest.PgAkv(q, reporttest.InAnswer, 3),
		nil))
	err := (&DiffCommand{A: a, B: b}).Run(new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), "no question in common") || !strings.Contains(err.Error(), "webq") {
		t.Errorf("the error is %v", err)
	}
}

func TestDiffCommand(t *testing.T) {
	a := writeDiffResults(t, "a", nil, reporttest.InNothing, reporttest.InNothing, reporttest.InAnswer)
	b := writeDiffResults(t, "b", nil, reporttest.InAnswer, reporttest.InAnswer, reporttest.InNothing)
	tests := []struct {
		name    string
		c       DiffCommand
		want    []string
		without string
		fails   string
	}{
		{"figures and questions are printed", DiffCommand{A: a, B: b}, []string{"3 questions in common", "33.3", "66.7",
			"+33.3", "Hit %", "Right now, wrong before: 2 questions", "q00002", "right → not found"}, "Cost a question",
			""},
		{"only so many questions are printed", DiffCommand{A: a, B: b, Limit: 1}, []string{"q00000", "and 1 more"},
			"q00001", ""},
		{"a negative limit is an error", DiffCommand{A: a, B: b, Limit: -1}, nil, "", "--limit"},
		{"a directory without results is an error", DiffCommand{A: t.TempDir(), B: b}, nil, "", "holds no results"},
		{"the other directory without results is one too", DiffCommand{A: a, B: t.TempDir()}, nil, "",
			"holds no results"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := test.c.Run(&out)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("the error is %v, want %q", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not printed:\n%s", want, out.String())
				}
			}
			if strings.Contains(out.String(), test.without) {
				t.Errorf("%q is printed:\n%s", test.without, out.String())
			}
		})
	}
}

func TestJSONHoldsEverything(t *testing.T) {
	a := writeDiffResults(t, "a", nil, reporttest.InNothing)
	b := writeDiffResults(t, "b", nil, reporttest.InAnswer)
	var out bytes.Buffer
	if err := (&DiffCommand{A: a, B: b, JSON: true}).Run(&out); err != nil {
		t.Fatal(err)
	}
	var d Diff
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Common != 1 || len(d.Better) != 1 || d.Better[0].LostA != "not found" || d.A.Name != "pg-akv" ||
		d.B.KG != "wikidata@1" {
		t.Errorf("the difference is %+v", d)
	}
}

func TestATerminalIsSentNoControlCharacters(t *testing.T) {
	q := reporttest.Question(0)
	q.ID, q.Question, q.Answers = "\x1b[31mid", "\x1b]0;title\a?", []string{"\x1b[2J"}
	m := reporttest.Manifest("zsre", "", "io")
	a := reporttest.Write(t, t.TempDir(), m, results.NewLine(q, nil, reporttest.IO(q, "wrong"), nil))
	b := reporttest.Write(t, t.TempDir(), m, results.NewLine(q, nil, reporttest.IO(q, q.Answers[0]), nil))
	var out bytes.Buffer
	if err := (&DiffCommand{A: a, B: b}).Run(&out); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\a") {
		t.Errorf("printed %q", out.String())
	}
}
