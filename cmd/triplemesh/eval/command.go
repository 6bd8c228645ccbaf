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

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/results"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
)

// Command is `triplemesh eval`: flags, and a Run that does what they say.
type Command struct {
	Questions string `type:"existingfile" placeholder:"FILE" help:"Questions with their right answers, as published or as JSON Lines: id, question, answers, topic_entities."`
	Suite     string `type:"existingfile" placeholder:"FILE" help:"Evaluations to run one after the other, YAML; takes the place of the flags that say what is evaluated."`
	Format    string `placeholder:"NAME" help:"Format of the questions, such as webqsp, metaqa or open; docs/methods.md lists all. (default: found out)"`
	Names     string `type:"existingfile" placeholder:"FILE" help:"Names of the ids in the questions' answers and topic entities: an id, a tab and a name a line."`

	KG           string   `name:"kg" placeholder:"KG" help:"Knowledge graph to ask, or one snapshot of it, such as wikidata@3."`
	OtherKG      []string `name:"other-kg" placeholder:"KG" help:"Knowledge graph to read beside it; may be given again."`
	Method       []string `default:"pg-akv" placeholder:"NAME,…" help:"Methods to evaluate, each by the same questions; the others are compared with the first. (default: pg-akv)"`
	Limit        int      `placeholder:"N" help:"Ask a sample of N questions; 0 asks all. A smaller sample is the beginning of a larger one by the same seed."`
	Seed         int64    `default:"1" help:"Seed of the sample."`
	GoldEntities bool     `help:"Give the dataset's topic entities with each question; otherwise they are linked. Questions that have none are linked either way."`

	Ablation      string   `placeholder:"NAME" help:"Part of the method to do without; see triplemesh methods."`
	Until         string   `placeholder:"STAGE" help:"Stop after a stage, such as ground-graph or paths."`
	Verification  string   `placeholder:"MODE" help:"How the pseudo-graph is corrected: align, edits or rewrite."`
	Reflection    string   `placeholder:"MODE" help:"How the answers of ger are settled: weigh or model."`
	Preset        string   `placeholder:"NAME" help:"Grounding parameters: default or paper."`
	AnswerForm    string   `placeholder:"FORM" help:"What answers look like: entities or text. (default: taken from each question)"`
	AbstainBelow  float32  `placeholder:"P" help:"Answer that it is not in the knowledge graph where the confidence is below this, 0 to 1."`
	MaxHops       uint32   `placeholder:"N" help:"Longest relation path."`
	BeamWidth     uint32   `placeholder:"N" help:"Entities explored at a time (tog)."`
	CalibratedOn  []string `type:"existingfile" placeholder:"FILE" help:"Questions that thresholds were chosen by or a model was trained on; warns of those that are asked. May be given again."`
	RelationPaths string   `type:"existingfile" placeholder:"FILE" help:"Relation paths to be followed instead of planned ones, as JSON Lines: id, paths."`

	Out      string        `type:"path" placeholder:"DIR" help:"Directory that keeps every run; of several evaluations each has a directory in it. The same command goes on where an earlier one stopped, and asks again only what failed."`
	JSON     bool          `name:"json" help:"Print figures as JSON."`
	Parallel int           `default:"4" help:"Questions asked at a time."`
	Timeout  time.Duration `default:"10m" help:"Longest time for one question."`

	MaxCalls  uint64        `placeholder:"N" help:"Stop when all evaluations have made N model calls."`
	MaxTokens uint64        `placeholder:"N" help:"Stop when they have used N tokens, read and written."`
	MaxCost   float64       `placeholder:"USD" help:"Stop when they have cost so much."`
	MaxTime   time.Duration `placeholder:"TIME" help:"Begin no question after this time."`

	// Version is the version of the program, which results are kept apart by.
	Version string `kong:"-"`

	pause func(context.Context, time.Duration) error // between two tries; sleep, but in tests
}

// Services are what an evaluation asks.
type Services struct {
	// Asker answers the questions.
	Asker
	// Paths finds how many hops a question has; nil leaves that open.
	Paths PathFinder
	// Encoder tells the encoder of a knowledge graph's snapshot, empty where it
	// is not known; nil leaves it open.
	Encoder func(context.Context, results.KG) string
}

// Run asks the questions and prints what comes of them to stdout, with the
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
		hops: newHops(services.Paths), progress: newProgress(terminal.Of(stderr, os.Environ())), pause: pause,
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
	entries, err := c.entries()
	if err != nil {
		return nil, err
	}
	evaluations, err := c.plan(entries)
	if err != nil {
		return nil, err
	}
	if err := checkLeaks(evaluations, c.CalibratedOn, stderr); err != nil {
		return nil, err
	}
	encoders := make(map[results.KG]string)
	for _, e := range evaluations {
		if kg := (results.KG{Name: e.manifest.KG, Snapshot: e.manifest.Snapshot}); kg.Name != "" && services.Encoder != nil {
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

// entries are the evaluations of the suite, or the one that the flags name.
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
	case c.Suite != "" && c.Questions != "":
		return nil, errors.New("--suite and --questions: give one of them; a suite names its questions")
	case c.Suite != "" && c.options() != (results.Options{}) || c.Suite != "" && (c.GoldEntities || c.RelationPaths != "" || c.Format != "" || c.Names != "" || len(c.OtherKG) > 0):
		return nil, errors.New("--suite: the options of a suite's evaluations are in its file; leave the flags out")
	case c.Suite != "":
		return readSuite(c.Suite)
	case c.Questions == "":
		return nil, errors.New("--questions or --suite: name what is to be asked")
	}
	entry := Entry{
		Questions: c.Questions, Format: c.Format, Names: c.Names, KG: c.KG, OtherKGs: c.OtherKG, Methods: c.Method,
		Limit: c.Limit, Seed: c.Seed, GoldEntities: c.GoldEntities, RelationPaths: c.RelationPaths, Options: c.options(),
	}
	return []Entry{entry}, nil
}

func (c *Command) options() results.Options {
	return results.Options{
		Until: c.Until, Verification: c.Verification, Reflection: c.Reflection, Preset: c.Preset, Ablation: c.Ablation,
		AnswerForm: c.AnswerForm, MaxHops: c.MaxHops, BeamWidth: c.BeamWidth, AbstainBelow: c.AbstainBelow,
	}
}
