package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/triplemesh/triplemesh/bench/load"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type askCommand struct {
	cli.ServerFlags
	Method    string        `default:"pg-akv" placeholder:"NAME" help:"Method."`
	Questions string        `type:"existingfile" required:"" placeholder:"FILE" help:"${ask_questions}"`
	KG        string        `name:"kg" placeholder:"NAME[@N]" help:"${load_kg}"`
	Limit     int           `default:"20" help:"How many questions to ask; 0 for all."`
	Wait      time.Duration `help:"${ask_wait}"`
}

// Help returns the text below the flags.
func (askCommand) Help() string {
	return "Questions are asked one after another; the first, which meets a cold model server, has a column of its " +
		"own. Tokens are those that the model server counts: reused ones were in its prompt cache. Answers from " +
		"triplemesh's own cache count as calls that were cached, so ask questions that the mesh has not seen. What " +
		"is asked is not kept as runs."
}

// Run asks a mesh that runs, or one in this process.
func (c *askCommand) Run(p *cli.Program) (err error) {
	questions, err := load.ReadQuestions(c.Questions)
	if err != nil {
		return cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("--questions: %w", err)}
	}
	if c.Limit > 0 && len(questions) > c.Limit {
		questions = questions[:c.Limit]
	}
	s, err := p.Connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var kg *graphv1.KnowledgeGraphRef
	if c.KG == "" {
		if kg, err = p.PickKG(p.Ctx, s); err != nil {
			return err
		}
	} else if kg, err = cli.ParseKG(c.KG); err != nil {
		return cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	select {
	case <-p.Ctx.Done():
		return p.Ctx.Err()
	case <-time.After(c.Wait):
	}
	asker := orchestratorv1.NewOrchestratorServiceClient(s)
	request := load.Rotate(questions, []string{c.Method}, kg)
	var t timings
	for n := range questions {
		req := request(n)
		req.Options.Spans = true
		began := time.Now()
		resp, err := asker.Ask(p.Ctx, req)
		if err != nil {
			return fmt.Errorf("ask %q: %w", req.GetQuestion(), err)
		}
		t.add(resp.GetRun(), time.Since(began))
	}
	return t.print(p.Stdout)
}

// timings are how long questions took, as a whole, by stage and by kind of model call.
type timings struct {
	rows  []*timing
	asked int
	// spans is how many runs came with their trace.
	spans int
}

// timing is one row: a stage, or the model calls of one kind.
type timing struct {
	name                    string
	took                    []time.Duration
	first                   bool // took[0] is of the first question
	calls, cached           int
	prompt, reused, written int
}

func (t *timings) row(name string) *timing {
	for _, r := range t.rows {
		if r.name == name {
			return r
		}
	}
	r := &timing{name: name, first: t.asked == 0}
	t.rows = append(t.rows, r)
	return r
}

// add takes one answered question.
func (t *timings) add(run *orchestratorv1.Run, took time.Duration) {
	whole := t.row("question")
	whole.took = append(whole.took, took)
	for _, s := range run.GetStages() {
		name := strings.ToLower(strings.TrimPrefix(s.GetStage().String(), "STAGE_"))
		r := t.row("stage " + strings.ReplaceAll(name, "_", "-"))
		r.took = append(r.took, s.GetDuration().AsDuration())
	}
	if len(run.GetSpans()) > 0 {
		t.spans++
	}
	for _, s := range run.GetSpans() {
		a := s.GetAttributes()
		if a["gen_ai.operation.name"] != "chat" {
			continue
		}
		r := t.row("model " + a["triplemesh.task"])
		r.took = append(r.took, s.GetDuration().AsDuration())
		for _, r := range []*timing{whole, r} {
			r.calls++
			if a["triplemesh.cached"] == "true" {
				r.cached++
				continue
			}
			r.prompt += count(a["gen_ai.usage.input_tokens"])
			r.reused += count(a["gen_ai.usage.cache_read.input_tokens"])
			r.written += count(a["gen_ai.usage.output_tokens"])
		}
	}
	t.asked++
}

// count reads a number of tokens; what is none counts as 0.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// print writes a line for each row; the first question is left out of p50 and p90.
func (t *timings) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tfirst\tp50\tp90\tmodel calls\tcached\tprompt tokens\tevaluated\treused\twritten\t")
	for _, r := range t.rows {
		first, rest := "", slices.Clone(r.took)
		if r.first {
			first, rest = seconds(rest[0]), rest[1:]
		}
		slices.Sort(rest)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t", r.name, first, quantile(rest, 50), quantile(rest, 90))
		if r.prompt > 0 {
			fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d (%d %%)\t%d\t\n", r.calls, r.cached, r.prompt, r.prompt-r.reused,
				r.reused,
				100*r.reused/r.prompt, r.written)
		} else {
			fmt.Fprintf(w, "%d\t%d\t\t\t\t\t\n", r.calls, r.cached)
		}
	}
	if t.spans == 0 {
		fmt.Fprintln(w, "the mesh keeps no spans, so tokens are not known; switch tracing on (telemetry)")
	}
	return w.Flush()
}

func quantile(sorted []time.Duration, percent int) string {
	if len(sorted) == 0 {
		return ""
	}
	return seconds(sorted[(len(sorted)-1)*percent/100])
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }
