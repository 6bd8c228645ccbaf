package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// command parses flags as a user gives them.
func command(t *testing.T, flags ...string) *Command {
	t.Helper()
	var cli struct {
		Eval Command `cmd:""`
	}
	parser, err := kong.New(&cli, kong.Vars(HelpTexts))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(append([]string{"eval"}, flags...)); err != nil {
		t.Fatal(err)
	}
	cli.Eval.Version = "v1"
	return &cli.Eval
}

func questionsFile(t *testing.T, questions ...dataset.Question) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "questions.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, q := range questions {
		if err := json.NewEncoder(file).Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestCommandRunsAnEvaluation(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "results")
	c := command(t, "--questions", questionsFile(t, nQuestions(8)...), "--kg", "wikidata", "--method", "ger",
		"--limit", "3", "--seed", "5", "--verification", "edits", "--preset", "paper", "--out", out, "--json")
	asker := &fakeAsker{}
	var stdout, stderr bytes.Buffer
	for range 2 { // the second time there is nothing left to ask
		stdout.Reset()
		if err := c.Run(t.Context(), Services{Asker: asker}, &stdout, &stderr); err != nil {
			t.Fatal(err)
		}
		var out struct {
			Evaluations []struct {
				Summary struct {
					N   int
					Hit struct{ Value float64 }
				}
			}
		}
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			t.Fatalf("%v in\n%s", err, stdout.String())
		}
		if len(out.Evaluations) != 1 || out.Evaluations[0].Summary.N != 3 || out.Evaluations[0].Summary.Hit.Value != 1 {
			t.Errorf("summary\n%s", stdout.String())
		}
	}
	if got := len(asker.questions()); got != 3 {
		t.Errorf("asked %d questions, want 3", got)
	}
	request := asker.requests[0]
	if request.GetMethod() != "ger" || request.GetKg().GetName() != "wikidata" ||
		request.GetOptions().GetVerification().String() != "VERIFICATION_MODE_EDITS" ||
		request.GetOptions().GetGrounding().GetPreset().String() != "PRESET_PAPER" {
		t.Errorf("asked with %v", request)
	}
	if !strings.Contains(stderr.String(), "3 of 3 questions are answered already") {
		t.Errorf("progress\n%s", stderr.String())
	}
}

func TestCommandPrintsATable(t *testing.T) {
	t.Parallel()
	c := command(t, "--questions", questionsFile(t, nQuestions(2)...), "--method", "io")
	var stdout, stderr bytes.Buffer
	if err := c.Run(t.Context(), Services{Asker: &fakeAsker{}}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if want := "io, 2 questions of questions by seed 1\n\nF1"; !strings.HasPrefix(stdout.String(), want) {
		t.Errorf("got\n%s", stdout.String())
	}
}

func TestCommandPrintsNoSummaryOfAnEvaluationThatEndedEarly(t *testing.T) {
	t.Parallel()
	c := command(t, "--questions", questionsFile(t, nQuestions(2)...))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	err := c.Run(ctx, Services{Asker: &fakeAsker{}}, &stdout, &stderr)
	if err == nil || !strings.Contains(err.Error(), "nothing is kept without --out") || stdout.Len() != 0 {
		t.Errorf("error %v, output %q", err, stdout.String())
	}
}

func TestCommandChecksBeforeItAsks(t *testing.T) {
	t.Parallel()
	good := questionsFile(t, nQuestions(2)...)
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags []string
		want  string
	}{
		{"no question at a time", []string{"--questions", good, "--parallel", "0"}, "--parallel: must be at least 1"},
		{"fewer than no questions", []string{"--questions", good, "--limit=-1"}, "--limit: must be at least 0"},
		{"no time", []string{"--questions", good, "--timeout", "0s"}, "--timeout: must be above 0"},
		{"a snapshot that is no number", []string{"--questions", good, "--kg", "wikidata@x"}, "--kg:"},
		{"an unknown stage", []string{"--questions", good, "--until", "end"}, "--until: unknown stage"},
		{"a bad dataset", []string{"--questions", bad}, "bad.jsonl: line 1: field \"id\""},
		{"gold entities where there are none", []string{"--questions", good, "--gold-entities"},
			"--gold-entities: no question"},
		{"a file in place of the directory", []string{"--questions", good, "--out", good}, "make results directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asker := &fakeAsker{}
			err := command(t, c.flags...).Run(t.Context(), Services{Asker: asker}, &bytes.Buffer{}, &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if len(asker.requests) > 0 {
				t.Errorf("asked %v", asker.requests)
			}
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestCommandReportsASummaryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	questions := questionsFile(t, nQuestions(1)...)
	for _, flags := range [][]string{{"--questions", questions}, {"--questions", questions, "--json"}} {
		asker := AskerFunc(func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
			return &orchestratorv1.AskResponse{Run: rightAnswer()}, nil
		})
		err := command(t, flags...).Run(t.Context(), Services{Asker: asker}, brokenPipe{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "write summary: broken pipe") {
			t.Errorf("%v: error %v", flags, err)
		}
	}
}

func TestCommandRunsSeveralMethodsIntoDirectoriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "results")
	asker := &fakeAsker{reply: func(_ context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		if req.GetMethod() == "nothing" {
			return nil, status.Error(codes.InvalidArgument, "there is no method nothing")
		}
		return rightAnswer(), nil
	}}
	services := Services{Asker: asker, Encoder: func(_ context.Context, kg results.KG) string {
		return "encoder of " +
			kg.Name
	}}
	c := command(t, "--questions", questionsFile(t, nQuestions(3)...), "--kg", "wikidata", "--method", "io,nothing,ger",
		"--out", out)
	var stdout, stderr bytes.Buffer
	err := c.Run(t.Context(), services, &stdout, &stderr)
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(),
		"evaluate questions-wikidata-nothing: there is no method nothing") {
		t.Errorf("error %v", err)
	}
	if got := stdout.String(); strings.Count(got, "100.0 %") != 6 || strings.Contains(got, "nothing") {
		t.Errorf("got\n%s", got)
	}
	if !strings.Contains(stderr.String(), "questions-wikidata-nothing cannot be evaluated") {
		t.Errorf("progress\n%s", stderr.String())
	}
	for _, method := range []string{"io", "ger"} {
		found, err := results.Open(filepath.Join(out, "questions-wikidata-"+method))
		if err != nil {
			t.Fatal(err)
		}
		if m := found.Manifest; found.Len() != 3 || m.Method != method || m.Snapshot != 7 ||
			m.Encoder != "encoder of wikidata" || m.Leak == nil || m.Asked != 3 {
			t.Errorf("%s: %d questions of %+v", method, found.Len(), m)
		}
	}
}

func TestCommandPrintsWhatABudgetLeft(t *testing.T) {
	t.Parallel()
	c := command(t, "--questions", questionsFile(t, nQuestions(9)...), "--method", "io,cot", "--max-calls", "33")
	var stdout, stderr bytes.Buffer
	err := c.Run(t.Context(), Services{Asker: &fakeAsker{reply: dear}}, &stdout, &stderr)
	var stopped *StoppedByBudget
	if !errors.As(err, &stopped) || stopped.Left != 7 {
		t.Fatalf("error %v", err)
	}
	if got := stdout.String(); !strings.Contains(got, "2 of 9") {
		t.Errorf("got\n%s", got)
	}
}

func TestCommandRefusesResultsOfAnyEvaluationBeforeItAsks(t *testing.T) {
	t.Parallel()
	out, file := t.TempDir(), questionsFile(t, nQuestions(2)...)
	old := filepath.Join(out, "questions-cot")
	if err := os.MkdirAll(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "manifest.json"), []byte(`{"format": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	asker := &fakeAsker{}
	err := command(t, "--questions", file, "--method", "io,cot", "--out", out).Run(t.Context(), Services{Asker: asker},
		&bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "format 1 of an older triplemesh") || !strings.Contains(err.Error(),
		"evaluate again") || len(asker.requests) > 0 {
		t.Errorf("error %v after %d questions", err, len(asker.requests))
	}
}
