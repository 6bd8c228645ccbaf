package train

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/feedback"
	"github.com/triplemesh/triplemesh/lab/leak"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Options are the flags of every training.
type Options struct {
	Hold     float64 `default:"0.2" placeholder:"SHARE" help:"${train_hold}"`
	MaxHops  int     `default:"3" placeholder:"N" help:"Length of the longest path, 1 to 4."`
	Seed     int64   `default:"1" help:"Seed of the sample and of the fit."`
	Parallel int     `default:"4" help:"Questions at a time."`
	Threads  int     `default:"2" help:"Threads of the fit."`
}

func (o Options) check() error {
	switch {
	case !(o.Hold > 0 && o.Hold < 1):
		return fmt.Errorf("--hold: must be above 0 and below 1, is %g", o.Hold)
	case o.MaxHops < 1 || o.MaxHops > 4:
		return fmt.Errorf("--max-hops: must be from 1 to 4, is %d", o.MaxHops)
	case o.Parallel < 1 || o.Threads < 1:
		return fmt.Errorf("--parallel and --threads: must be at least 1")
	}
	return nil
}

// newTrainer returns a trainer without sets.
func (o Options) newTrainer(r Retriever) *Trainer {
	fit := DefaultFit()
	fit.Seed, fit.Workers = uint64(o.Seed), o.Threads
	return &Trainer{Retriever: r, Hold: o.Hold, MaxHops: o.MaxHops, Parallel: o.Parallel, Fit: fit, Now: time.Now}
}

// Command is `triplemesh train ranker`: its flags, and what they do.
type Command struct {
	Options
	dataset.Tuning
	KG            []string `name:"kg" required:"" sep:"none" placeholder:"NAME" help:"${train_kg}"`
	Questions     []string `sep:"none" type:"existingfile" placeholder:"FILE" help:"${train_questions}"`
	Limit         int      `default:"2000" placeholder:"N" help:"${train_limit}"`
	GoldOnly      bool     `help:"${train_gold_only}"`
	NotIn         []string `sep:"none" type:"existingfile" placeholder:"FILE" help:"${train_not_in}"`
	Test          []string `sep:"none" type:"existingfile" placeholder:"FILE" help:"${train_test}"`
	LeaveGraphOut bool     `help:"${train_leave_graph_out}"`
	FromFeedback  bool     `help:"${train_from_feedback}"`
	MinCallers    int      `default:"1" placeholder:"N" help:"Refuse feedback of fewer callers."`
	Synthesise    bool     `help:"${train_synthesise}"`
	Count         int      `default:"1000" placeholder:"N" help:"Number of questions to make."`
	RelationWords int      `default:"200" placeholder:"N" help:"${train_relation_words}"`
	CountHops     int      `placeholder:"N" help:"Longest path of the questions to make (default: --max-hops)."`
	Scratch       bool     `help:"Begin from chance, not from the ranker that ranks now."`

	graphs []*graphv1.KnowledgeGraphRef
	sets   []*Set
	notIn  []leak.Set
}

// HelpTexts are the help texts that are too long for a struct tag: kong variables.
var HelpTexts = map[string]string{
	"train_hold": "Share of the questions to evaluate on instead of training, above 0 and below 1.",
	"train_kg": "Knowledge graph; repeatable. One for all files of questions, or one for each, in " +
		"their order.",
	"train_questions":     "Questions with answers, in any format that eval reads; repeatable.",
	"train_limit":         "Take a sample of N questions of each file; 0 takes all, up to 10000.",
	"train_gold_only":     "Do not train on linked topic entities where the questions have their own.",
	"train_not_in":        "Test set: its questions are left out of training, by their words. Repeatable.",
	"train_from_feedback": "Train on the answers that callers marked, beside other questions.",
	"train_synthesise":    "Train on questions made of the knowledge graph itself, beside other questions.",
	"train_relation_words": "Put questions that are made into words that the model finds for the N most frequent " +
		"relations; 0 for their names alone.",
	"train_test": "Questions to evaluate on: their part validate, or all with --part all; they are left out of " +
		"training. Repeatable, with one --kg.",
	"train_leave_graph_out": "Evaluate as well, for each knowledge graph, a ranker that is trained on the questions " +
		"of the others.",
}

// Prepare reads the questions. parse parses the name of a knowledge graph.
func (c *Command) Prepare(parse func(string) (*graphv1.KnowledgeGraphRef, error)) error {
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case len(c.Questions) == 0 && !c.FromFeedback && !c.Synthesise:
		return fmt.Errorf("--questions: name a file of questions with answers; or train --from-feedback, or on " +
			"questions that --synthesise makes")
	case len(c.Questions) > 0 && len(c.KG) != 1 && len(c.KG) != len(c.Questions):
		return fmt.Errorf("--kg: there are %d for %d files of questions: give one for all, or one for each",
			len(c.KG), len(c.Questions))
	case c.MinCallers < 1:
		return fmt.Errorf("--min-callers: must be at least 1, is %d", c.MinCallers)
	case c.Count < 1:
		return fmt.Errorf("--count: must be at least 1, is %d", c.Count)
	case c.RelationWords < 0:
		return fmt.Errorf("--relation-words: must be at least 0, is %d", c.RelationWords)
	case c.CountHops < 0 || c.CountHops > 4:
		return fmt.Errorf("--count-hops: must be from 1 to 4, is %d", c.CountHops)
	}
	for _, name := range c.KG {
		kg, err := parse(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(c.graphs, func(g *graphv1.KnowledgeGraphRef) bool { return proto.Equal(g, kg) }) {
			c.graphs = append(c.graphs, kg)
		}
	}
	if c.Limit < 0 {
		return fmt.Errorf("--limit: must be at least 0, is %d", c.Limit)
	}
	for i, path := range c.Questions {
		kg, err := parse(c.KG[min(i, len(c.KG)-1)])
		if err != nil {
			return err
		}
		read, err := c.Tuning.Read(path, "")
		if err != nil {
			return err
		}
		set, err := NewSet(path, kg, read.Questions, c.Limit, c.Seed)
		if err != nil {
			return err
		}
		set.Unanswered += read.Unanswered
		c.sets = append(c.sets, set)
	}
	for _, path := range c.Test {
		if len(c.graphs) != 1 {
			return fmt.Errorf("--test: needs one --kg")
		}
		read, err := dataset.Tuning{Part: c.testPart()}.Read(path, "")
		if err != nil {
			return err
		}
		set, err := NewSet(path, c.graphs[0], read.Questions, c.Limit, c.Seed)
		if err != nil {
			return err
		}
		set.Test = true
		c.sets = append(c.sets, set)
	}
	for _, path := range c.NotIn {
		if _, err := os.Stat(path); err != nil {
			return err
		}
		read, err := dataset.Read(path, "")
		if err != nil {
			return err
		}
		c.notIn = append(c.notIn, leak.NewSet(path, read, read.Questions))
	}
	return nil
}

// testPart returns the part of test files to evaluate on, by which a ranker is activated or not.
func (c *Command) testPart() string {
	if c.Part == string(dataset.All) {
		return c.Part
	}
	return string(dataset.Validate)
}

// Graphs returns the knowledge graphs, each once.
func (c *Command) Graphs() []*graphv1.KnowledgeGraphRef { return c.graphs }

// FindsWords reports whether Read asks the model for words.
func (c *Command) FindsWords() bool { return c.Synthesise && c.RelationWords > 0 }

// Read adds the questions of feedback and those made of the knowledge graphs, if they are asked for. words may be nil.
func (c *Command) Read(ctx context.Context, walker Walker, words WordFinder, marks feedback.Lister,
	progress func(what string)) error {
	for _, kg := range c.graphs {
		if c.FromFeedback {
			listed, err := feedback.List(ctx, marks, &orchestratorv1.ListFeedbackRequest{KgName: kg.GetName()})
			if err != nil {
				return err
			}
			required := FeedbackRequirements()
			required.MinCallers = c.MinCallers
			set, err := NewFeedbackSet(listed, kg, required, c.Seed)
			if err != nil {
				return err
			}
			c.sets = append(c.sets, set)
		}
		if c.Synthesise {
			s := Synthesiser{Walker: walker, Words: words, MaxRelations: c.RelationWords, KG: kg, Count: c.Count,
				MaxHops: cmp.Or(c.CountHops, c.MaxHops), Seed: c.Seed, Parallel: c.Parallel,
				Progress: func(what string, done int) {
					progress(fmt.Sprintf("%s of %s: %d", what, kg.GetName(), done))
				}}
			set, err := s.Make(ctx)
			if err != nil {
				return err
			}
			c.sets = append(c.sets, set)
		}
	}
	return nil
}

// Trainer returns a trainer of the questions that Prepare and Read read.
func (c *Command) Trainer(r Retriever) *Trainer {
	t := c.newTrainer(r)
	t.Sets, t.NotIn, t.GoldOnly, t.LeaveGraphOut = c.sets, c.notIn, c.GoldOnly, c.LeaveGraphOut
	return t
}
