package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/report/reporttest"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/reports"
)

func TestLookingAtResults(t *testing.T) {
	root := t.TempDir()
	results := make(map[string]string)
	for method, answer := range map[string]string{"io": "Another thing", "cot": "Answer 1"} {
		results[method] = reporttest.Write(t, root, reporttest.Manifest("zsre", "", method),
			reporttest.Lines(4, func(_ int, q dataset.Question) (*orchestratorv1.Run, error) {
				return reporttest.IO(q, answer), nil
			})...)
	}
	card := func(bound string) string {
		path := filepath.Join(t.TempDir(), "card.yaml")
		if err := os.WriteFile(path, []byte("thresholds: [{dataset: zsre, method: cot, metric: hit, at_least: "+bound+
			"}]"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	page := filepath.Join(t.TempDir(), "report.html")
	tests := []struct {
		name string
		args []string
		code int
		says string
	}{
		{"a report is written", []string{"report", root, "--out", page}, ExitOK, "report.html  2 evaluations"},
		{"a report of nothing is a failure", []string{"report", t.TempDir(), "--out", page}, ExitFailed, "no results"},
		{"a report is published", []string{"report", root, "--publish", "zsre-1"}, ExitOK,
			"zsre-1.html  2 evaluations"},
		{"a report has one place", []string{"report", root, "--publish", "zsre-1", "--out", page},
			ExitUsage, "give one"},
		{"a report is published under a name", []string{"report", root, "--publish", "../zsre"}, ExitUsage,
			"a letter or digit first"},
		{"a difference is no failure", []string{"diff", results["io"], results["cot"]}, ExitOK,
			"Right now, wrong before: 1 question"},
		{"a scorecard that is kept", []string{"scorecard", card("0.25"), root}, ExitOK, "pass"},
		{"a scorecard that is missed", []string{"scorecard", card("0.26"), root}, ExitFailed,
			"1 of 1 thresholds missed"},
		{"a scorecard without its results", []string{"scorecard", card("0.25"), results["io"]}, ExitUsage,
			"there are no results of it"},
		{"a reader without a mesh in this process", []string{"run", "--questions", card("1"), "--reader", "oracle"},
			ExitUsage, "add --local"},
		{"a reader that is none", []string{"run", "--questions", card("1"), "--reader", "seer", "--local"}, ExitUsage,
			`"seer" is no reader`},
		{"a scorecard that is none", []string{"scorecard", card("much"), root}, ExitUsage, "line 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			triplemesh(t, nil, "", append([]string{"eval"}, test.args...)...).Expect(t, test.code, test.says)
		})
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "<!doctype html>") {
		t.Errorf("the page is %.40q (%v)", text, err)
	}
}

func TestQuestionsOfClaimsAreOverwrittenByForce(t *testing.T) {
	out := filepath.Join(t.TempDir(), "questions.jsonl")
	write := func(more ...string) testkit.Output {
		facts := testkit.CheckoutFile(t, "examples", "wikidata", "triples.tsv.gz")
		return triplemesh(t, nil, "", append([]string{"eval", "check", "--facts", facts, "--claims", "1", "--questions",
			out}, more...)...)
	}
	write().Expect(t, ExitOK, "questions")
	write().Expect(t, ExitUsage, "exists", "--force")
	write("--force").Expect(t, ExitOK, "questions")
}

func TestAPublishedReportIsListed(t *testing.T) {
	root, data := t.TempDir(), t.TempDir()
	reporttest.Write(t, root, reporttest.Manifest("zsre", "", "io"),
		reporttest.Lines(4, func(_ int, q dataset.Question) (*orchestratorv1.Run, error) {
			return reporttest.IO(q, "Answer 1"), nil
		})...)
	triplemesh(t, nil, "", "eval", "report", root, "--publish", "zsre-1", "--title", "Reading & more", "--data",
		data).Expect(t, ExitOK)
	listed, err := reports.List(setup.Home{Data: data}.Reports())
	if err != nil || len(listed) != 1 || listed[0].Name != "zsre-1" || listed[0].Title != "Reading & more" {
		t.Errorf("got %+v, %v", listed, err)
	}
}
