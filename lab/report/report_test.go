package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/report/reporttest"
	"github.com/triplemesh/triplemesh/lab/results"
	"github.com/triplemesh/triplemesh/lab/score"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample writes evaluations of three methods on one dataset, and of one on
// another.
func sample(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	reporttest.Write(t, root, reporttest.Manifest("zsre", "", "io"),
		reporttest.Lines(20, func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
			if i%4 == 0 {
				return reporttest.IO(q, q.Answers[0]), nil
			}
			return reporttest.IO(q, "Another thing"), nil
		})...)
	reporttest.Write(t, root, reporttest.Manifest("zsre", "wikidata", "pg-akv"),
		reporttest.Lines(20, func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
			if i == 19 {
				return nil, status.Error(codes.Unavailable, "model server is down")
			}
			return reporttest.PgAkv(q, max(reporttest.Depth(i%7), reporttest.InAnswer-reporttest.Depth(i%5)), 4), nil
		})...)
	m := reporttest.Manifest("zsre", "wikidata", "ger")
	m.Options.Ablation, m.GoldEntities = "no-reflection", true
	m.Leak = &results.Leak{Examples: 12, Pairs: []results.LeakPair{{Stage: "answer",
		Example: "Which thing is number 3?", ID: "q00003", Question: "Which thing is number 3?"}}}
	reporttest.Write(t, root, m, reporttest.Lines(10, func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
		return reporttest.Ger(q, []string{"Other", q.Answers[0]}, q.Answers[:i%2], q.Answers[:i%2]), nil
	})...)
	m = reporttest.Manifest("webq", "freebase", "pg-akv")
	m.Options.Until, m.Leak = "verify", nil
	reporttest.Write(t, root, m, reporttest.Lines(5, func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
		run := reporttest.PgAkv(q, reporttest.InFixed, 4)
		run.Answers, run.Text, run.Stages, run.Confidence = nil, "", run.GetStages()[:3], nil
		return run, nil
	})...)
	return root
}

func reportOf(t *testing.T, baseline string, dirs ...string) *Report {
	t.Helper()
	evaluations, err := OpenEvaluations(dirs)
	if err != nil {
		t.Fatal(err)
	}
	return New(evaluations, Options{Baseline: baseline, Now: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)})
}

func TestMarkdownIsTheGoldenOne(t *testing.T) {
	var got bytes.Buffer
	if err := reportOf(t, "io", sample(t)).Markdown(&got); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "report.md")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the report differs from %s; where it should, run the test with -update:\n%s", golden, got.String())
	}
}

func cell(t *testing.T, table Table, method, column string) Cell {
	t.Helper()
	for i, c := range table.Columns {
		if c.Name != column {
			continue
		}
		for _, row := range table.Rows {
			if row[0].Text == method {
				return row[i]
			}
		}
	}
	t.Fatalf("the table %q has no cell %s, %s", table.Caption, method, column)
	return Cell{}
}

func TestMethodsAreComparedWithTheBaselineOverCommonQuestions(t *testing.T) {
	sections := reportOf(t, "io", sample(t)).Sections
	gold, linked := sections[1], sections[2]
	tests := []struct {
		name, method, column string
		want                 Cell
	}{
		{"the baseline says so", "io", "F1 against io", Cell{Text: "baseline", Quiet: true}},
		{"fewer common questions are counted", "ger no-reflection", "F1 against io",
			Cell{Text: "+20.0", Below: "−40.0 to +70.0\np = 0.73"}},
		{"gold entities are named", "ger no-reflection", "Entities", Cell{Text: "gold"}},
		{"a method without topic entities has none", "io", "Entities", Cell{Text: "none"}},
		{"a failed question is counted", "pg-akv", "n", Cell{Text: "20", Below: "1 failed"}},
		{"tokens are read and written ones", "io", "Tokens", Cell{Text: "210"}},
		{"times are in seconds", "pg-akv", "p50", Cell{Text: "2.00 s"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := gold
			if test.method == "pg-akv" {
				s = linked
			}
			if got := cell(t, s.Scores, test.method, test.column); got != test.want {
				t.Errorf("the cell is %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestAnyEvaluationCanBeTheBaseline(t *testing.T) {
	root := sample(t)
	for name, want := range map[string]string{"io": "io", "ger no-reflection": "ger no-reflection",
		"ger": "ger no-reflection", "nothing": "io"} {
		s := reportOf(t, name, root).Sections[1]
		if got := s.group.Evaluations[s.base].Name; got != want {
			t.Errorf("the baseline for %q is %q, want %q", name, got, want)
		}
	}
}

func TestOpenQuestionsAreScoredByRougeL(t *testing.T) {
	root := t.TempDir()
	lines := make([]results.Line, 4)
	for i := range lines {
		q := reporttest.Question(i)
		q.Kind, q.Answers = dataset.Open, []string{"It is a thing of some size", "It is a thing"}
		lines[i] = results.NewLine(q, nil, reporttest.IO(q, "a thing"), nil)
	}
	reporttest.Write(t, root, reporttest.Manifest("webnlg", "", "io"), lines...)
	s := reportOf(t, "io", root).Sections[0]
	if s.main.Key != "rouge_l" {
		t.Fatalf("the main figure is %s", s.main.Key)
	}
	if c := cell(t, s.Scores, "io", "ROUGE-L F1 %"); c.Text == "" || c.Text == "0.0" {
		t.Errorf("ROUGE-L is %+v", c)
	}
	s.questions(nil)
	if o := s.Questions[0].Outcomes[0]; o.State != "o" || o.Loss == "" || o.Lost != "" {
		t.Errorf("the outcome is %+v", o)
	}
}

func TestWhatWasNotMeasuredIsLeftOut(t *testing.T) {
	s := reportOf(t, "io", sample(t)).Sections[0]
	for _, c := range s.Scores.Columns {
		scores := strings.HasPrefix(c.Name, "Hit") || strings.HasPrefix(c.Name, "F1")
		if scores && !strings.Contains(c.Name, "grounded") { // the sample's runs are marked all the same
			t.Errorf("an evaluation that was stopped before its answers has a column %q", c.Name)
		}
	}
	if len(s.Plots) > 0 {
		t.Errorf("it has plots of scores: %q", s.Plots[0].Title)
	}
	if len(s.Funnels) != 1 || !strings.Contains(string(s.Funnels[0].SVG), "fixed graph: 5") ||
		strings.Contains(string(s.Funnels[0].SVG), "answered right") || s.Funnels[0].Note != "Nothing lost." {
		t.Errorf("the funnels are %+v", s.Funnels)
	}
}

func TestPlotsAgainstCallsWhereTokensWereNotCounted(t *testing.T) {
	root := t.TempDir()
	for _, method := range []string{"io", "cot"} {
		reporttest.Write(t, root, reporttest.Manifest("zsre", "", method),
			reporttest.Lines(4, func(_ int, q dataset.Question) (*orchestratorv1.Run, error) {
				run := reporttest.IO(q, q.Answers[0])
				run.Usage.Calls, run.Usage.CachedCalls, run.Usage.PromptTokens, run.Usage.CompletionTokens = 0, 1, 0, 0
				return run, nil
			})...)
	}
	s := reportOf(t, "io", root).Sections[0]
	if s.Plots[0].Title != "F1 against calls" || !strings.Contains(s.Plots[0].Note, "cache") {
		t.Errorf("the first plot is %q: %s", s.Plots[0].Title, s.Plots[0].Note)
	}
	if c := cell(t, s.Scores, "io", "Calls"); c.Below != "+ 1.0 cached" {
		t.Errorf("calls are %+v", c)
	}
}

func TestAnEvaluationWithoutQuestionsAndOneWhereAllFailedAreReported(t *testing.T) {
	root := t.TempDir()
	reporttest.Write(t, root, reporttest.Manifest("zsre", "wikidata", "ger"))
	reporttest.Write(t, root, reporttest.Manifest("zsre", "wikidata", "pg-akv"),
		reporttest.Lines(3, func(int, dataset.Question) (*orchestratorv1.Run, error) {
			return nil, status.Error(codes.Unavailable, "down")
		})...)
	r := reportOf(t, "io", root)
	var html, markdown bytes.Buffer
	if err := r.HTML(&html); err != nil {
		t.Fatal(err)
	}
	if err := r.Markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	if c := cell(t, r.Sections[0].Scores, "pg-akv", "n"); c.Below != "3 failed" {
		t.Errorf("the failures are %+v", c)
	}
}

func TestARunThatIsNoneIsNamed(t *testing.T) {
	dir := reporttest.Write(t, t.TempDir(), reporttest.Manifest("zsre", "", "io"),
		reporttest.Lines(2, func(_ int, q dataset.Question) (*orchestratorv1.Run, error) {
			return reporttest.IO(q, "Answer"), nil
		})...)
	path := filepath.Join(dir, "runs.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`"grounding":"`), []byte(`"grounding":{},"x":"`), 1),
		0o644); err != nil {
		t.Fatal(err)
	}
	err = reportOf(t, "io", dir).HTML(new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(),
		"question q00000: the run is not one") {
		t.Errorf("the error is %v", err)
	}
}

func TestMarkdownEscapesWhatMeansSomethingToIt(t *testing.T) {
	got := inline("a|b\n# <b> *x* _y_ [l](u) `c` ![i](u)")
	want := `a\|b \# &lt;b&gt; \*x\* \_y\_ \[l\](u) ` + "\\`c\\`" + ` \!\[i\](u)`
	if got != want {
		t.Errorf("escaped to %s, want %s", got, want)
	}
}

func TestNumbersAreWrittenForPeople(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"thousands in groups", thousands(1234567), "1,234,567"},
		{"a negative number", thousands(-1234), "−1,234"},
		{"a small amount", amount(4.25), "4.2"},
		{"a large amount", amount(1234.4), "1,234"},
		{"milliseconds as seconds", seconds(1234), "1.23 s"},
		{"minutes as seconds", seconds(123456), "123 s"},
		{"a small price", dollars(0.00012), "$0.00012"},
		{"no price", dollars(0), "0"},
		{"points gained", points(.123), "+12.3"},
		{"points lost", points(-.123), "−12.3"},
		{"no difference has no sign", points(-.0001), "0.0"},
		{"a tiny p", pValue(.0001), "p < 0.001"},
		{"a small p", pValue(.0123), "p = 0.012"},
		{"a large p", pValue(.5), "p = 0.50"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("written %q, want %q", test.got, test.want)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	root := sample(t)
	out := t.TempDir()
	page, tables := filepath.Join(out, "r.html"), filepath.Join(out, "r.md")
	tests := []struct {
		name  string
		c     Command
		says  string
		files []string
		fails string
	}{
		{"it writes a page and tables, and says where", Command{Dirs: []string{root}, Out: page, Markdown: tables},
			"4 evaluations", []string{page, tables}, ""},
		{"it prints tables alone", Command{Dirs: []string{root}, Markdown: "-", Title: "A title"}, "# A title", nil,
			""},
		{"a directory without results is an error", Command{Dirs: []string{out}, Out: page}, "", nil, "no results"},
		{"a directory to write to that is not there is an error", Command{Dirs: []string{root},
			Out: filepath.Join(out, "none", "r.html")}, "", nil, "write report"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout bytes.Buffer
			err := test.c.Run(&stdout)
			if got := fmt.Sprint(err); (err != nil) != (test.fails != "") || !strings.Contains(got, test.fails) &&
				test.fails != "" {
				t.Fatalf("the error is %v, want %q", err, test.fails)
			}
			if !strings.Contains(stdout.String(), test.says) {
				t.Errorf("printed %q, want %q in it", stdout.String(), test.says)
			}
			for _, file := range test.files {
				if info, err := os.Stat(file); err != nil || info.Size() == 0 {
					t.Errorf("%s was not written: %v", file, err)
				}
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(out, ".report-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("unfinished files are left: %v (%v)", left, err)
	}
}

func TestUnanswerableQuestionsThatAreAnsweredAreDrawn(t *testing.T) {
	root := t.TempDir()
	questions := func(unanswerable bool) []results.Line {
		lines := reporttest.Lines(20, func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
			run := reporttest.IO(q, q.Answers[0])
			run.Confidence = new(float32(i) / 20)
			return run, nil
		})
		for i := range lines {
			if i%4 == 0 && unanswerable {
				lines[i].Unanswerable, lines[i].Answers = true, nil
				lines[i].Measures.Scores = score.Scores{}
			}
		}
		return lines
	}
	reporttest.Write(t, root, reporttest.Manifest("answerable", "", "io"), questions(false)...)
	reporttest.Write(t, root, reporttest.Manifest("mixed", "", "io"), questions(true)...)
	for i, want := range []int{1, 2} {
		titles := ""
		for _, p := range reportOf(t, "io", root).Sections[i].Plots {
			if strings.Contains(p.Title, "isk") || strings.Contains(p.Title, "nanswerable") {
				titles += p.Title + ";"
			}
		}
		if strings.Count(titles, ";") != want {
			t.Errorf("section %d has the plots %q", i, titles)
		}
	}
}
