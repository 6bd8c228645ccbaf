// Package eval asks methods the questions of datasets and says how good their
// answers are, where right answers were lost between the stages, and what it
// all cost.
package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/leak"
	"github.com/triplemesh/triplemesh/lab/reader"
	"github.com/triplemesh/triplemesh/lab/results"
)

// Command is `triplemesh eval`: flags, and a Run that does what they say.
type Command struct {
	Questions string `type:"existingfile" placeholder:"FILE" help:"${eval_questions}"`
	Dataset   string `placeholder:"NAME" help:"${eval_dataset}"`
	Suite     string `type:"existingfile" placeholder:"FILE" help:"${eval_suite}"`
	Format    string `placeholder:"NAME" help:"${eval_format}"`
	Names     string `type:"existingfile" placeholder:"FILE" help:"${eval_names}"`
	Part      string `enum:"tune,validate,report,all" default:"all" help:"${eval_part}"`

	KG           string   `name:"kg" placeholder:"KG" help:"${eval_kg}"`
	OtherKG      []string `name:"other-kg" placeholder:"KG" help:"${eval_other_kg}"`
	Method       []string `default:"pg-akv" placeholder:"NAME,…" help:"${eval_method}"`
	Limit        int      `placeholder:"N" help:"${eval_limit}"`
	Seed         int64    `default:"1" help:"Seed of the sample."`
	GoldEntities bool     `help:"${eval_gold_entities}"`

	Ablation       string   `placeholder:"NAME" help:"Part of the method to do without; see triplemesh methods."`
	Until          string   `placeholder:"STAGE" help:"Stop after a stage, such as ground-graph or paths."`
	Verification   string   `placeholder:"MODE" help:"How the pseudo-graph is corrected: align, edits or rewrite."`
	Reflection     string   `placeholder:"MODE" help:"How the answers of ger are settled: weigh or model."`
	Preset         string   `placeholder:"NAME" help:"Grounding parameters: default or paper."`
	AnswerForm     string   `placeholder:"FORM" help:"${eval_answer_form}"`
	AbstainBelow   float32  `placeholder:"P" help:"${eval_abstain_below}"`
	MaxHops        uint32   `placeholder:"N" help:"Longest relation path."`
	BeamWidth      uint32   `placeholder:"N" help:"Entities explored at a time (tog)."`
	CalibratedOn   []string `type:"existingfile" placeholder:"FILE" help:"${eval_calibrated_on}"`
	CalibratedPart string   `enum:"tune,validate,all" default:"tune" help:"${eval_calibrated_part}"`
	RelationPaths  string   `type:"existingfile" placeholder:"FILE" help:"${eval_relation_paths}"`

	Reader string `placeholder:"NAME" help:"${eval_reader}"`

	Out      string        `type:"path" placeholder:"DIR" help:"${eval_out}"`
	JSON     bool          `name:"json" help:"Print figures as JSON."`
	Parallel int           `default:"4" help:"Questions asked at a time."`
	Timeout  time.Duration `default:"10m" help:"Longest time for one question."`

	MaxCalls  uint64        `placeholder:"N" help:"Stop when all evaluations have made N model calls."`
	MaxTokens uint64        `placeholder:"N" help:"Stop when they have used N tokens, read and written."`
	MaxCost   float64       `placeholder:"USD" help:"Stop when they have cost so much."`
	MaxTime   time.Duration `placeholder:"TIME" help:"Begin no question after this time."`

	// SetsDir is the folder of sets that were fetched.
	SetsDir string `kong:"-"`
	// Version is the version of the program, which results are kept apart by.
	Version string `kong:"-"`
	// Prompts are the stages' prompt files of this build, whose examples are compared with the
	// questions.
	Prompts []leak.Prompts `kong:"-"`

	pause func(context.Context, time.Duration) error // between two tries; sleep, but in tests
}

// Services are what an evaluation asks.
type Services struct {
	// Asker answers the questions.
	Asker
	// Paths finds how many hops a question has; nil leaves that open.
	Paths PathFinder
	// Reader answers the reading calls of the mesh in place of its model; required for a command
	// with a Reader. Run tells it the right answers.
	Reader *reader.Reader
	// Encoder tells the encoder of a knowledge graph's snapshot, empty where it
	// is not known; nil leaves it open.
	Encoder func(context.Context, results.KG) string
}

// Run asks the questions and prints the result of them to stdout, with the
// progress on stderr. Questions that fail are counted in the figures.
//
// An evaluation that the services refuse does not keep others from being run;
// the error says so in the end. Everything else ends them all, with nothing
// lost. A *StoppedByBudget is no fault: what was answered is printed.
func (c *Command) Run(ctx context.Context, services Services, stdout, stderr io.Writer) (err error) {
	evaluations, err := c.prepare(ctx, services, stderr)
	defer func() {
		for _, e := range evaluations {
			if e.journal != nil {
				err = errors.Join(err, e.journal.Close())
			}
		}
	}()
	if err != nil {
		return err
	}
	l := c.lab(services, stderr)
	l.progress.expect(evaluations, c.Parallel)
	for _, e := range evaluations {
		for _, q := range e.questions {
			record, _ := e.journal.Record(q.ID)
			l.hops.remember(e.manifest, record)
		}
	}
	stopped := l.run(ctx, evaluations)
	var budget *StoppedByBudget
	if stopped != nil && !errors.As(stopped, &budget) {
		return stopped
	}
	var refused []error
	var done []*evaluation
	for _, e := range evaluations {
		if e.stopped == nil {
			done = append(done, e)
		} else {
			refused = append(refused, fmt.Errorf("evaluate %s: %w", e.name, e.stopped))
		}
	}
	if len(done) > 0 {
		err = writeSums(stdout, sumUp(done), c.JSON)
	}
	return errors.Join(err, errors.Join(refused...), stopped)
}

func (c *Command) lab(services Services, stderr io.Writer) *lab {
	pause := c.pause
	if pause == nil {
		pause = sleep
	}
	return &lab{
		asker: services, parallel: c.Parallel, timeout: c.Timeout,
		hops: newHops(services.Paths), progress: newProgress(terminal.Detect(stderr, os.Environ())), pause: pause,
		budget: &budget{
			calls: c.MaxCalls, tokens: c.MaxTokens, usd: c.MaxCost, time: c.MaxTime,
			now: time.Now, started: time.Now(),
		},
	}
}

// prepare checks everything that can be checked before the first question is
// asked, and opens the results. The evaluations are to be closed even where it
// fails.
func (c *Command) prepare(ctx context.Context, services Services, stderr io.Writer) ([]*evaluation, error) {
	if c.Reader != "" && services.Reader == nil {
		return nil, errors.New("--reader: reads in place of the model of a mesh in this process; add --local")
	}
	entries, err := c.entries()
	if err != nil {
		return nil, err
	}
	evaluations, err := c.plan(entries)
	if err != nil {
		return nil, err
	}
	if services.Reader != nil {
		for _, e := range evaluations {
			services.Reader.Learn(e.questions, e.manifest.Seed)
		}
	}
	if err := checkLeaks(c.Prompts, evaluations, c.CalibratedOn, c.CalibratedPart, stderr); err != nil {
		return nil, err
	}
	encoders := make(map[results.KG]string)
	for _, e := range evaluations {
		if kg := (results.KG{Name: e.manifest.KG, Snapshot: e.manifest.Snapshot}); kg.Name != "" &&
			services.Encoder != nil {
			if _, known := encoders[kg]; !known {
				encoders[kg] = services.Encoder(ctx, kg)
			}
			e.manifest.Encoder = encoders[kg]
		}
	}
	var problems []error
	for _, e := range evaluations {
		journal, err := results.Resume(e.dir, e.manifest)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		e.journal = journal
	}
	return evaluations, errors.Join(problems...)
}

// entries returns the evaluations of the suite, or the one that the flags name.
func (c *Command) entries() ([]Entry, error) {
	switch {
	case c.Parallel < 1:
		return nil, fmt.Errorf("--parallel: must be at least 1, is %d", c.Parallel)
	case c.Limit < 0:
		return nil, fmt.Errorf("--limit: must be at least 0, is %d", c.Limit)
	case c.Timeout <= 0:
		return nil, fmt.Errorf("--timeout: must be above 0, is %v", c.Timeout)
	case c.MaxTime < 0 || c.MaxCost < 0:
		return nil, errors.New("--max-time and --max-cost: must be at least 0")
	case c.Suite != "" && (c.Questions != "" || c.Dataset != "") || c.Questions != "" && c.Dataset != "":
		return nil, errors.New("--suite, --questions and --dataset: give one of them; a suite names its questions")
	case c.Suite != "" && c.options() != (results.Options{}) || c.Suite != "" &&
		(c.GoldEntities || c.RelationPaths != "" || c.Format != "" || c.Names != "" || len(c.OtherKG) > 0):
		return nil, errors.New("--suite: the options of a suite's evaluations are in its file; leave the flags out")
	case c.Suite != "":
		return readSuite(c.Suite)
	case c.Questions == "" && c.Dataset == "":
		return nil, errors.New("--questions, --dataset or --suite: name what is to be asked")
	}
	entry := Entry{
		Questions: c.Questions, Dataset: c.Dataset, Format: c.Format, Names: c.Names, Part: c.Part, KG: c.KG,
		OtherKGs: c.OtherKG, Methods: c.Method,
		Limit: c.Limit, Seed: c.Seed, GoldEntities: c.GoldEntities, RelationPaths: c.RelationPaths,
		Options: c.options(),
	}
	return []Entry{entry}, nil
}

func (c *Command) options() results.Options {
	return results.Options{
		Until: c.Until, Verification: c.Verification, Reflection: c.Reflection, Preset: c.Preset, Ablation: c.Ablation,
		AnswerForm: c.AnswerForm, MaxHops: c.MaxHops, BeamWidth: c.BeamWidth, AbstainBelow: c.AbstainBelow,
	}
}

// readerName returns the name of the reader in its shortest form; empty if the model reads.
func (c *Command) readerName() (string, error) {
	if c.Reader == "" {
		return "", nil
	}
	r, err := reader.Parse(c.Reader)
	if err != nil {
		return "", fmt.Errorf("--reader: %w", err)
	}
	return r.Name(), nil
}
