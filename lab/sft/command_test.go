package sft

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// command returns one with the defaults of its flags.
func command(file string) Command {
	return Command{Tuning: dataset.Tuning{Part: "all"}, Questions: file, MaxHops: 4, Seed: 1, Parallel: 2}
}

func TestExamplesAreOfNoQuestionThatFiguresArePublishedOn(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, `{"id": "q%d", "question": "who is %d?", "answers": ["a"]}`+"\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "questions.jsonl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := command(file)
	c.Part = ""
	if err := c.Prepare("small"); err != nil {
		t.Fatal(err)
	}
	for _, q := range c.questions {
		if part := dataset.PartOf(q.ID); part != dataset.Tune {
			t.Errorf("%s is in %s", q.ID, part)
		}
	}
	if c.Part = "report"; c.Prepare("small") == nil {
		t.Error("the part report was opened")
	}
}

func TestCommandWritesOneExampleALine(t *testing.T) {
	c := command(fileOf(t, questions[:5]...))
	c.Runs = []string{recordedIn(t, map[string]*orchestratorv1.Run{"q1": river()})}
	var done []int
	c.Progress = func(n, of int) {
		if of != 5 {
			t.Errorf("of %d questions, want 5", of)
		}
		done = append(done, n)
	}
	if err := c.Prepare("small"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s, err := c.Write(t.Context(), newRetriever(t), ref, settings, &out)
	if err != nil {
		t.Fatal(err)
	}
	written := lines(t, out.String())
	total := 0
	for _, task := range s.Examples {
		total += task.Examples
	}
	if len(written) != total || strings.Count(out.String(), "\n") != total || len(done) != 5 || s.Runs.Used != 1 {
		t.Errorf("%d lines for %d examples, progress %v, runs %+v", len(written), total, done, s.Runs)
	}
	for _, e := range written {
		if e.QuestionID == "" || len(e.Messages) < 2 || e.Messages[len(e.Messages)-1].Role != "assistant" ||
			e.Messages[len(e.Messages)-2].Role != "user" || lastAnswer(e) == "" {
			t.Errorf("a line that teaches nothing: %+v", e)
		}
	}
	if strings.Contains(out.String(), `\u003c`) {
		t.Error("the marks of a relation path are escaped")
	}
	var text bytes.Buffer
	if err := s.Print(&text); err != nil || !strings.Contains(text.String(), "Recorded runs: 1 of 1 used") ||
		!strings.Contains(text.String(), "5 questions over small@1") {
		t.Errorf("printed %q, %v", text.String(), err)
	}
}

func TestQuestionsInATestSetAreRefusedOrDropped(t *testing.T) {
	test := fileOf(t, questions[1], questions[2])
	c := command(fileOf(t, questions...))
	c.NotIn = []string{test}
	var leak *LeakError
	if err := c.Prepare("small"); !errors.As(err, &leak) || len(leak.Pairs) != 2 {
		t.Fatalf("got %v, want two leaks", err)
	}
	c.DropLeaked, c.Task = true, []Task{CandidateAnswers}
	if err := c.Prepare("small"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s, err := c.Write(t.Context(), newRetriever(t), ref, settings, &out)
	if err != nil {
		t.Fatal(err)
	}
	if s.DroppedLeaked != 2 || s.Questions != 4 || strings.Contains(out.String(), `"q2"`) {
		t.Errorf("got %+v and %s", s, out.String())
	}
	c.NotIn = []string{fileOf(t, questions...)}
	if err := c.Prepare("small"); err == nil || !strings.Contains(err.Error(), "all of them are in a test set") {
		t.Errorf("got %v, want that all questions are in a test set", err)
	}
}

func TestPrepareRefusesWhatCannotBeDone(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad,
		[]byte(
			"\ufeff{\"id\":\"a\",\"question\":\"b\",\"answers\":[],\"topic_entities\":[]}\r\n"+
				"{\"id\":\"c\",\"question\":\"b\",\"answers\":\"x\"}\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := fileOf(t, questions...)
	for _, tt := range []struct {
		name   string
		change func(*Command)
		want   []string
	}{
		{"more hops than are searched", func(c *Command) { c.MaxHops = 5 }, []string{"--max-hops", "1 to 4"}},
		{"a negative limit", func(c *Command) { c.Limit = -1 }, []string{"--limit"}},
		{"no question at a time", func(c *Command) { c.Parallel = 0 }, []string{"--parallel"}},
		{"questions in a bad file", func(c *Command) { c.Questions = bad }, []string{"bad.jsonl", "line 2", "answers"}},
		{"no such file", func(c *Command) { c.Questions = bad + "x" }, []string{"bad.jsonlx"}},
		{"a directory without results", func(c *Command) { c.Runs = []string{filepath.Dir(bad)} },
			[]string{"no results"}},
		{"a test set that is none", func(c *Command) { c.NotIn = []string{bad} }, []string{"test set", "bad.jsonl"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := command(good)
			tt.change(&c)
			err := c.Prepare("small")
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want it to say %q", err, want)
				}
			}
		})
	}
}

func TestALimitTakesTheSampleOfTheSeed(t *testing.T) {
	c := command(fileOf(t, questions...))
	c.Limit = 2
	if err := c.Prepare("small"); err != nil {
		t.Fatal(err)
	}
	if len(c.questions) != 2 {
		t.Errorf("%d questions, want 2", len(c.questions))
	}
}
