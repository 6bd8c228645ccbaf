package sft

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// fileOf writes questions as JSON Lines.
func fileOf(t testing.TB, questions ...dataset.Question) string {
	t.Helper()
	var text []byte
	for _, q := range questions {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	file := filepath.Join(t.TempDir(), "questions.jsonl")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLeaked(t *testing.T) {
	question := func(id, question string) dataset.Question {
		return dataset.Question{ID: id, Question: question, Answers: []string{"a"}}
	}
	for _, tt := range []struct {
		name  string
		tests []string
		want  []string
	}{
		{"nothing in common", []string{fileOf(t, question("t1", "who wrote low tide"))}, nil},
		{"the same words, however they are written",
			[]string{fileOf(t, question("t1", "What rivers flow through Velmora?"))}, []string{"q1"}},
		{"the same id, asked a little differently",
			[]string{fileOf(t, question("q2", "who directed the films anna lindqvist played in"))}, []string{"q2"}},
		{"the same id of another question", []string{fileOf(t, question("q2", "how deep is the elde"))}, nil},
		{"in two test sets", []string{fileOf(t, questions[0]), fileOf(t, questions[2], questions[0])},
			[]string{"q1", "q3"}},
		{"in the results of an evaluation", []string{recordedIn(t, map[string]*orchestratorv1.Run{"q1": river()},
			"q4")}, []string{"q1", "q4"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pairs, err := findLeaks(questions, tt.tests)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range pairs {
				got = append(got, p.B.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestATestSetThatCannotBeReadIsAnError(t *testing.T) {
	for name, path := range map[string]string{
		"no file":              filepath.Join(t.TempDir(), "absent.jsonl"),
		"an empty directory":   t.TempDir(),
		"a file of no dataset": fileOf(t),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := findLeaks(questions, []string{path}); err == nil ||
				!strings.Contains(err.Error(), "test set") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestALeakErrorCountsAndNames(t *testing.T) {
	pairs, err := findLeaks(questions, []string{fileOf(t, questions...)})
	if err != nil {
		t.Fatal(err)
	}
	text := (&LeakError{pairs}).Error()
	for _, want := range []string{"6 of the questions", "q1", "what rivers flow through velmora", "and 1 more",
		"--drop-leaked"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}
