package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/lab/eval"
	"github.com/triplemesh/triplemesh/lab/reader"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// suite writes an evaluation suite with the tests' two questions.
func suite(t *testing.T, evaluations string) string {
	t.Helper()
	dir := t.TempDir()
	questions := `{"id": "employer", "question": "` + employerQuestion + `", "answers": ["` + employer +
		`"], "topic_entities": ["Robert Stam"]}
{"id": "study", "question": "` + studyQuestion + `", "answers": ["` + yale + `", "` + tisch +
		`"], "topic_entities": ["Alexander"]}
`
	for name, text := range map[string]string{"two.jsonl": questions, "suite.yaml": evaluations} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "suite.yaml")
}

const everyMethod = `evaluations:
- questions: two.jsonl
  kg: wikidata@1
  methods: [io, cot, pg-akv]
- questions: two.jsonl
  kg: wikidata@1
  methods: [ger]
  gold_entities: true
`

// evaluate runs a suite against a mesh and returns the figures printed by --json.
func (r *running) evaluate(t *testing.T, c *eval.Command) ([]evaluated, error) {
	t.Helper()
	return r.evaluateBy(t, nil, c)
}

// evaluateBy is evaluate with a reader in the model's place, which the mesh has too.
func (r *running) evaluateBy(t *testing.T, by *reader.Reader, c *eval.Command) ([]evaluated, error) {
	t.Helper()
	services := eval.Services{
		Asker: eval.AskerFunc(func(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse,
			error) {
			return r.orchestrator.Ask(ctx, req)
		}),
		Reader: by,
		Paths:  retrieverv1.NewRetrieverServiceClient(r.dial(t, "retriever")),
	}
	c.JSON, c.Parallel, c.Timeout, c.Seed = true, 4, patience, 1
	var stdout, stderr bytes.Buffer
	err := c.Run(timeoutContext(t, patience), services, &stdout, &stderr)
	if t.Failed() || stdout.Len() == 0 {
		return nil, err
	}
	var out struct{ Evaluations []evaluated }
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%v in\n%s", err, stdout.String())
	}
	return out.Evaluations, err
}

type evaluated struct {
	Name, Dir string
	Left      int
	Summary   struct {
		N, Errors int
		Hit       *results.Interval
		Calls     results.Interval  `json:"calls_per_question"`
		Cached    results.Interval  `json:"cached_calls_per_question"`
		P50       *results.Interval `json:"p50_ms"`
	}
}

// answersOf returns the answers to the questions in a results directory.
func answersOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	found, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for line, err := range found.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		var run struct {
			Answers []struct{ Answer string }
			Text    string
		}
		if err := json.Unmarshal(line.Run, &run); err != nil {
			t.Fatal(err)
		}
		out[line.ID] = run.Text
		for _, a := range run.Answers {
			out[line.ID] += "|" + a.Answer
		}
	}
	return out
}

func TestAnEvaluationIsReplayedFromTheCacheWithNoModel(t *testing.T) {
	cache, file := t.TempDir(), suite(t, everyMethod)
	set := map[string]string{"llm.cache.dir": cache}
	first, again := t.TempDir(), t.TempDir()

	model := scripted(t)
	m := start(t, options{model: model, set: set})
	asked, err := m.evaluate(t, &eval.Command{Suite: file, Out: first})
	if err != nil {
		t.Fatal(err)
	}
	m.stop()

	model.Kill()
	m = start(t, options{model: model, set: set})
	replayed, err := m.evaluate(t, &eval.Command{Suite: file, Out: again})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 4 || len(replayed) != 4 {
		t.Fatalf("%d and %d evaluations, want 4", len(asked), len(replayed))
	}
	for i, r := range replayed {
		if asked[i].Summary.Calls.Value == 0 || asked[i].Summary.Errors > 0 {
			t.Errorf("%s made no calls, or failed: %+v", r.Name, asked[i])
		}
		if r.Summary.Errors > 0 || r.Summary.Calls.Value != 0 || r.Summary.P50 != nil ||
			r.Summary.Cached.Value != asked[i].Summary.Calls.Value+asked[i].Summary.Cached.Value {
			t.Errorf("%s is not a replay of %+v: %+v", r.Name, asked[i].Summary, r.Summary)
		}
		before, after := answersOf(t, asked[i].Dir), answersOf(t, r.Dir)
		if len(before) != 2 || before["employer"] != after["employer"] || before["study"] != after["study"] {
			t.Errorf("%s answered %v and now %v", r.Name, before, after)
		}
	}
}

func TestAnEvaluationThatWasStoppedAsksNothingTwice(t *testing.T) {
	out, file := t.TempDir(), suite(t, everyMethod)
	model := scripted(t)
	m := start(t, options{model: model})
	stopped, err := m.evaluate(t, &eval.Command{Suite: file, Out: out, MaxCalls: 3})
	var budget *eval.StoppedByBudget
	if !errors.As(err, &budget) || budget.Left == 0 {
		t.Fatalf("error %v after %+v", err, stopped)
	}
	calls := len(model.Requests())
	if calls > 3 {
		t.Errorf("%d calls, want at most 3", calls)
	}
	done, err := m.evaluate(t, &eval.Command{Suite: file, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, e := range done {
		total += e.Summary.Calls.Value * 2
		if e.Left > 0 || e.Summary.N != 2 {
			t.Errorf("%s has %+v", e.Name, e)
		}
	}
	if got := len(model.Requests()); float64(got) != total {
		t.Errorf("%d calls for runs of %v calls: something was asked twice", got, total)
	}
	records, err := results.Open(filepath.Join(out, "two-wikidata@1-ger-gold"))
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range records.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"employer": 1, "study": 2}[r.ID]; r.Hops == nil || *r.Hops != want {
			t.Errorf("question %s has %v hops, want %d", r.ID, r.Hops, want)
		}
	}
}

func TestAnOptionThatAMethodDoesNotHaveIsToldOnceAndTheOthersAreAsked(t *testing.T) {
	model := scripted(t)
	m := start(t, options{model: model})
	file := suite(t, `evaluations:
- questions: two.jsonl
  kg: wikidata@1
  methods: [io, ger]
  options: {ablation: no-reflection}
`)
	done, err := m.evaluate(t, &eval.Command{Suite: file})
	var refused *eval.RefusedError
	if !errors.As(err, &refused) || strings.Count(err.Error(), "ablation") < 1 || !strings.Contains(err.Error(),
		"two-wikidata@1-io-no-reflection") {
		t.Errorf("error %v", err)
	}
	if len(done) != 1 || done[0].Summary.N != 2 || done[0].Summary.Errors != 0 {
		t.Errorf("got %+v, want ger alone", done)
	}
}

func TestAnEvaluationWaitsForAModelThatIsBusy(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("answer")).Status(429).Times(2).Reply("{"+employer+"}").Usage(10, 5)
	m := start(t, options{model: model, set: map[string]string{"llm.retries": "0"}})
	file := suite(t, "evaluations:\n- {questions: two.jsonl, methods: [io]}\n")
	done, err := m.evaluate(t, &eval.Command{Suite: file, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 1 || done[0].Summary.Errors != 0 || done[0].Summary.Hit.Value != 0.5 {
		t.Errorf("got %+v", done)
	}
	if got := len(model.Requests()); got != 4 {
		t.Errorf("the model was asked %d times for 2 questions, twice in vain", got)
	}
}
