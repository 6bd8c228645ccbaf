package tests

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/generator/query"

	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// ownGraphs has a folder for each graph of one's own, with its files, its questions, and what the bundled model drafted
// for these, as plans.tsv: the id of a question, what became of the draft when it was recorded, and the draft.
const ownGraphs = "testdata/graphs"

// recordings are the files beside those of a graph.
var recordings = []string{"plans.tsv", "questions.jsonl", "claims.tsv"}

// The outcomes of a drafted plan.
const (
	sure   = "sure"   // right, and the plan is not doubted
	right  = "right"  // right
	wrong  = "wrong"  // no answer, or another one
	misled = "misled" // another answer, and the plan is not doubted
)

var update = flag.Bool("update", false, "record what became of the drafts about graphs of one's own")

// TestDraftsAreAnsweredAsRecorded replays what the bundled model drafted for questions about graphs of one's own: what
// was right stays right, what was sure stays sure, and nothing wrong becomes sure.
func TestDraftsAreAnsweredAsRecorded(t *testing.T) {
	plans, err := filepath.Glob(filepath.Join(ownGraphs, "*", "plans.tsv"))
	if err != nil || len(plans) == 0 {
		t.Fatalf("%d graphs, error %v", len(plans), err)
	}
	data := t.TempDir()
	var folders []string
	for _, file := range plans {
		folders = append(folders, filepath.Dir(file))
		loadOwn(t, filepath.Dir(file), data)
	}
	p := plannerOf(t, start(t, options{data: data, targets: []string{"retriever", "verifier"}}))
	rank := map[string]int{misled: 0, wrong: 1, right: 2, sure: 3}
	for _, folder := range folders {
		count, recorded := map[string]int{}, &strings.Builder{}
		for _, q := range ownQuestions(t, folder) {
			got, answers := p.outcome(t, q)
			count[got]++
			fmt.Fprintf(recorded, "%s\t%s\t%s\n", q.ID, got, q.draft)
			if rank[got] != rank[q.outcome] {
				t.Logf("%s %q is %s, was %s; draft %s, answers %.200q, want %.200q", q.ID, q.Question, got, q.outcome,
					q.draft, answers, q.Answers)
			}
			if rank[got] < rank[q.outcome] && !*update {
				t.Errorf("%s: %s, was %s", q.ID, got, q.outcome)
			}
		}
		t.Logf("%s: %v", filepath.Base(folder), count)
		if *update {
			if err := os.WriteFile(filepath.Join(folder, "plans.tsv"), []byte(recorded.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// outcome aligns and computes the draft of a question.
func (p planner) outcome(t *testing.T, q ownQuestion) (outcome string, answers []string) {
	t.Helper()
	plan, aligned := query.Decode(q.draft), &verifierv1.AlignQueryPlanResponse{}
	if len(plan.GetClauses()) > 0 {
		query.Repair(q.Question, plan)
		aligned = p.align(t, q.plannedQuestion, plan)
	}
	if aligned.GetPlan() != nil {
		answers, _ = p.answer(t, q.KG, aligned.GetPlan())
	}
	isSure := aligned.GetReason() == "" && aligned.GetConfidence() >= 0.8
	switch isRight := sameAnswers(answers, q.Answers); {
	case isRight && isSure && len(answers) > 0:
		return sure, answers
	case isRight:
		return right, answers
	case isSure && len(answers) > 0:
		return misled, answers
	}
	return wrong, answers
}

// ownQuestion is a question about a graph of one's own with the recorded draft and what became of it.
type ownQuestion struct {
	plannedQuestion
	outcome string
}

func ownQuestions(t *testing.T, folder string) (all []ownQuestion) {
	t.Helper()
	plans, err := os.ReadFile(filepath.Join(folder, "plans.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string][]string{}
	for line := range strings.Lines(string(plans)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		recorded[fields[0]] = fields[1:]
	}
	for line := range bytes.Lines(text) {
		var q ownQuestion
		if err := json.Unmarshal(line, &q.plannedQuestion); err != nil {
			t.Fatal(err)
		}
		if r := recorded[q.ID]; len(r) == 2 {
			q.outcome, q.draft = r[0], r[1]
			all = append(all, q)
		}
	}
	if len(all) != len(recorded) {
		t.Fatalf("%s: %d of the %d recorded drafts have a question", folder, len(all), len(recorded))
	}
	return all
}

// loadOwn loads the files of a graph as a user does.
func loadOwn(t *testing.T, folder, data string) {
	t.Helper()
	args := []string{"kg", "load", filepath.Base(folder), "--yes", "--local", "--data", data}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.Contains(recordings, filepath.Base(file)) {
			args = append(args, file)
		}
	}
	load := exec.CommandContext(t.Context(), triplemesh(t), args...)
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("load %s: %v\n%s", folder, err, out)
	}
}
