package sft

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Command is `triplemesh export sft`: its flags, and what they do.
type Command struct {
	dataset.Tuning
	Questions  string   `required:"" xor:"source" type:"existingfile" placeholder:"FILE" help:"${sft_questions}"`
	Feedback   string   `required:"" xor:"source" type:"existingfile" placeholder:"FILE" help:"${sft_feedback}"`
	Task       []Task   `enum:"${sft_tasks}" placeholder:"TASK" help:"${sft_task}"`
	Runs       []string `type:"existingdir" placeholder:"DIR" help:"${sft_runs}"`
	NotIn      []string `type:"existingpath" placeholder:"PATH" help:"${sft_not_in}"`
	DropLeaked bool     `help:"Leave questions out that are in a test set, instead of refusing them all."`
	PathsApart bool     `help:"${sft_paths_apart}"`
	MaxHops    int      `default:"4" help:"Longest walk from a topic entity to an answer, up to 4."`
	Limit      int      `placeholder:"N" help:"Take a sample of N questions; 0 takes all."`
	Seed       int64    `default:"1" help:"Seed of the sample and of the choice of negatives."`
	Parallel   int      `default:"4" help:"Questions under way at a time."`

	// Progress, where set, is notified of every question done, of how many.
	Progress func(done, of int) `kong:"-"`

	questions []dataset.Question
	// marked are what runs answered and callers marked, by question.
	marked  map[string]recordedRun
	runs    runs
	read    *RunsRead
	dropped int
	// unanswered is how many questions the file has besides, and partly how many of feedback are not
	// marked whole.
	unanswered, partly int
}

// Prepare reads the questions, the test sets and the recorded runs over a
// knowledge graph. The error is a LeakError where questions are in a test set
// and may not be dropped.
func (c *Command) Prepare(kg string) error {
	switch {
	case c.MaxHops < 1 || c.MaxHops > 4:
		return fmt.Errorf("--max-hops: must be from 1 to 4, is %d", c.MaxHops)
	case c.Limit < 0:
		return fmt.Errorf("--limit: must be at least 0, is %d", c.Limit)
	case c.Parallel < 1:
		return fmt.Errorf("--parallel: must be at least 1, is %d", c.Parallel)
	}
	questions, err := c.readQuestions(kg)
	if err != nil {
		return err
	}
	leaks, err := findLeaks(questions, c.NotIn)
	if err != nil {
		return err
	}
	if len(leaks) > 0 {
		if !c.DropLeaked {
			return &LeakError{leaks}
		}
		in := map[string]bool{}
		for _, l := range leaks {
			in[l.B.ID] = true
		}
		questions = slices.DeleteFunc(questions, func(q dataset.Question) bool { return in[q.ID] })
		c.dropped = len(leaks)
	}
	if len(questions) == 0 {
		return fmt.Errorf("select questions of %s: all of them are in a test set; name other questions",
			cmp.Or(c.Questions, c.Feedback))
	}
	c.questions = dataset.Sample(questions, c.Limit, c.Seed)
	if len(c.Runs) > 0 {
		some, count, err := readRuns(c.Runs, kg, c.questions)
		if err != nil {
			return err
		}
		c.runs, c.read = some, &count
	}
	return nil
}

// readQuestions reads the file of questions, or that of feedback.
func (c *Command) readQuestions(kg string) ([]dataset.Question, error) {
	if c.Feedback != "" {
		questions, marked, partly, err := readFeedback(c.Feedback, kg)
		c.marked, c.partly = marked, partly
		return questions, err
	}
	read, err := c.Tuning.Read(c.Questions, "")
	c.unanswered = read.Unanswered
	return read.Questions, err
}

// Write writes the examples, one a line, and says what there is of them.
func (c *Command) Write(ctx context.Context, r Retriever, kg *graphv1.KnowledgeGraphRef, settings Settings,
	out io.Writer) (Summary, error) {
	e := Exporter{
		Retriever: r, KG: kg, Settings: settings, Tasks: c.Task, MaxHops: c.MaxHops, PathsApart: c.PathsApart,
		Seed: c.Seed, Parallel: c.Parallel, runs: c.runs, marked: c.marked,
	}
	buffered := bufio.NewWriterSize(out, 1<<16)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	done := 0
	summary, err := e.Export(ctx, c.questions, func(examples []Example) error {
		for _, x := range examples {
			if err := lines.Encode(x); err != nil {
				return fmt.Errorf("write examples: %w", err)
			}
		}
		done++
		if c.Progress != nil {
			c.Progress(done, len(c.questions))
		}
		return nil
	})
	if err != nil {
		return Summary{}, err
	}
	if err := buffered.Flush(); err != nil {
		return Summary{}, fmt.Errorf("write examples: %w", err)
	}
	summary.DroppedLeaked, summary.Unanswered, summary.Runs = c.dropped, c.unanswered, c.read
	summary.PartlyMarked = c.partly
	return summary, nil
}
