package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// TestClaimsAreJudgedAsRecorded checks claims about graphs of one's own, true and false ones, by a model that reads
// none of them and drafts plans as the bundled model did: what was decided stays decided, and nothing is decided
// wrongly.
// A folder has the claims in claims.tsv (whether it is true, the verdict when it was recorded, the claim); asked.tsv
// beside the folders has the drafts (the question that a claim answers, what the model drafted).
func TestClaimsAreJudgedAsRecorded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(ownGraphs, "*", "claims.tsv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of claims, error %v", len(files), err)
	}
	data, drafts := t.TempDir(), map[string]string{}
	for _, file := range files {
		loadOwn(t, filepath.Dir(file), data)
	}
	for _, f := range fieldsOf(t, filepath.Join(ownGraphs, "asked.tsv"), 2) {
		drafts[f[0]] = f[1]
	}
	model := testkit.NewLLM(t)
	model.On(testkit.Task("claims")).Reply("none")
	model.On(testkit.Task("query-plan")).ReplyFunc(func(r testkit.Request) string {
		question := strings.TrimPrefix(r.LastUser(), "Question: ")
		draft, isRecorded := drafts[question]
		if !isRecorded {
			t.Errorf("no draft is recorded for %q", question)
		}
		return draft
	})
	m := start(t, options{data: data, model: model})
	for _, file := range files {
		kg := filepath.Base(filepath.Dir(file))
		count, recorded := map[string]int{}, &strings.Builder{}
		for _, f := range fieldsOf(t, file, 3) {
			truth, was, claim := f[0], f[1], f[2]
			got := judgeOwn(t, m, kg, claim)
			count[truth+" "+got]++
			fmt.Fprintf(recorded, "%s\t%s\t%s\n", truth, got, claim)
			if wrong := map[string]string{"true": "contradicted", "false": "supported"}[truth]; got == wrong {
				t.Errorf("%s: %q is %s, and %s", kg, claim, truth, got)
			}
			if got != was && was != "open" && !*update {
				t.Errorf("%s: %q is %s, was %s", kg, claim, got, was)
			}
		}
		t.Logf("%s: %v", kg, count)
		if *update {
			if err := os.WriteFile(file, []byte(recorded.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// judgeOwn returns the verdict on a sentence with one claim: open if the graph decides none of it.
func judgeOwn(t *testing.T, m *running, kg, claim string) string {
	t.Helper()
	resp, err := m.orchestrator.Check(t.Context(), &orchestratorv1.CheckRequest{Text: claim,
		Kg: &graphv1.KnowledgeGraphRef{Name: kg}})
	if err != nil {
		t.Fatalf("%s: %q: %v", kg, claim, err)
	}
	verdict := "open"
	for _, c := range resp.GetCheck().GetClaims() {
		switch c.GetVerdict() {
		case verifierv1.Verdict_VERDICT_CONTRADICTED:
			return "contradicted"
		case verifierv1.Verdict_VERDICT_SUPPORTED:
			verdict = "supported"
		}
	}
	return verdict
}

// fieldsOf reads the lines of a file that have n fields each, separated by tabs.
func fieldsOf(t *testing.T, file string, n int) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", n)
		if len(fields) != n {
			t.Fatalf("%s: %q has %d fields, want %d", file, line, len(fields), n)
		}
		all = append(all, fields)
	}
	return all
}
