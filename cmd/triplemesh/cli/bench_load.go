package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/bench/load"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type benchLoadCommand struct {
	serverFlags
	scriptedFlags
	Rate      string        `default:"10" placeholder:"LIST" help:"Questions per second: 5,10,20 asks at each rate in turn, 5..80 doubles from 5 to 80. (default: ${default})"`
	Duration  time.Duration `default:"30s" help:"How long each rate lasts. (default: ${default})"`
	Overload  bool          `help:"Find the capacity from --rate on, then ask half of it, all of it, each of --times of it, and half again."`
	Times     []float64     `default:"2,5" help:"Times the capacity, for --overload. (default: ${default})"`
	Find      time.Duration `default:"5s" help:"How long each rate is tried while the capacity is looked for. (default: ${default})"`
	Method    []string      `default:"pg-akv" placeholder:"NAME,…" help:"Methods, by turns. (default: ${default})"`
	Questions string        `type:"existingfile" placeholder:"FILE" help:"Questions, one a line, or JSON Lines with question and topic_entities. Needed unless the mesh is --scripted."`
	KG        string        `name:"kg" placeholder:"NAME[@N]" help:"Knowledge graph; otherwise the only one there is, or wikidata."`
	Timeout   time.Duration `default:"30s" help:"Time of each question, from when it should be asked. (default: ${default})"`
	InFlight  int           `default:"4096" help:"Most questions under way; those beyond are counted and not asked. (default: ${default})"`
	Heedless  bool          `help:"Send every question. Otherwise the client refuses some itself while many are refused, which costs the mesh nothing."`
	Even      bool          `help:"Ask at even intervals; otherwise at those of a Poisson process."`
	Seed      uint64        `default:"1" help:"Seed of the intervals. (default: ${default})"`
	Tenant    []string      `placeholder:"WEIGHT[:FILE]" help:"A tenant: its part of the rate, and the file of its token. May be given again; a --scripted mesh needs no files."`
	JSON      bool          `name:"json" help:"Print the results as JSON."`
	Plot      string        `type:"path" placeholder:"FILE" help:"Draw the run into FILE, .svg or .html."`
}

// Help is printed below the flags.
func (benchLoadCommand) Help() string {
	return "Questions come whether or not those before are answered, and their time counts from when they should have been asked, so that a mesh that stalls does not slow down who measures it. Ctrl-C prints what was measured so far. What is asked is not kept as runs."
}

// Run asks a mesh that runs, one in this process, or one with a scripted model.
func (c *benchLoadCommand) Run(p *program) error {
	rates, err := load.ParseRates(c.Rate)
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("--rate: %w", err)}
	}
	if err := c.checkPlot(); err != nil {
		return exitError{exitUsage, err}
	}
	o := load.Options{Timeout: c.Timeout, MaxInFlight: c.InFlight, Even: c.Even, Seed: c.Seed}
	end, err := c.prepare(p, &o)
	if err != nil {
		return err
	}
	line := p.status()
	o.Tell = func(s load.Second) {
		line.set("second %d: %d asked, %d answered wholly, %d refused", s.At, s.Sent, s.Came, s.Refused)
	}
	report, err := c.measure(p, o, rates)
	line.Clear()
	err = errors.Join(err, end())
	if report == nil {
		return err
	}
	return errors.Join(err, c.print(p, report))
}

func (c *benchLoadCommand) measure(p *program, o load.Options, rates []float64) (*load.Report, error) {
	if err := o.Validate(); err != nil {
		return nil, exitError{exitUsage, err}
	}
	if c.Overload {
		return load.Overload(p.ctx, o, load.Plan{From: rates[0], Find: c.Find, Times: c.Times, Hold: c.Duration})
	}
	var steps []load.Step
	for _, rate := range rates {
		steps = append(steps, load.Step{Rate: rate, Length: c.Duration})
	}
	return load.Run(p.ctx, o, steps)
}

// prepare finds who is asked what, and by whom. The caller calls end.
func (c *benchLoadCommand) prepare(p *program, o *load.Options) (end func() error, err error) {
	tenants, err := parseTenants(c.Tenant)
	if err != nil {
		return nil, exitError{exitUsage, err}
	}
	server, kg, endMesh := c.Server, &graphv1.KnowledgeGraphRef{Name: scriptedKG}, func() error { return nil }
	questions := scriptedQuestions()
	if c.Scripted {
		if server, endMesh, err = c.scriptedFlags.start(p, tenants); err != nil {
			return nil, err
		}
		p.access = accessFlags{}
	} else {
		if c.Questions == "" {
			return nil, exitError{exitUsage, errors.New("name a file of questions with --questions, or take a mesh and questions of its own with --scripted")}
		}
		if questions, err = load.ReadQuestions(c.Questions); err != nil {
			return nil, exitError{exitUsage, fmt.Errorf("--questions: %w", err)}
		}
	}
	closers := []func() error{endMesh}
	end = func() error {
		var errs []error
		for i := range closers {
			errs = append(errs, closers[len(closers)-1-i]())
		}
		return errors.Join(errs...)
	}
	for _, t := range tenants {
		as := *p
		as.heedless = c.Heedless
		if t.file != "" {
			as.access.tokenFlags.Token, as.access.tokenFlags.TokenFile = "", t.file
		}
		s, err := as.connect(server, c.Local, mesh.StageNames()...)
		if err != nil {
			return nil, errors.Join(err, end())
		}
		closers = append(closers, s.end)
		if !c.Scripted && c.KG == "" {
			kg = as.pickKG(p.ctx, s, c.Retriever)
		}
		asker := orchestratorv1.NewOrchestratorServiceClient(s)
		o.Tenants = append(o.Tenants, load.Tenant{Name: t.name, Weight: t.weight, Ask: func(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
			return asker.Ask(ctx, req)
		}})
	}
	if c.KG != "" {
		if kg, err = parseKG(c.KG); err != nil {
			return nil, errors.Join(exitError{exitUsage, fmt.Errorf("--kg: %w", err)}, end())
		}
	}
	o.Question = load.Rotate(questions, c.Method, kg)
	return end, nil
}

func (c *benchLoadCommand) checkPlot() error {
	if c.Plot != "" && !strings.HasSuffix(c.Plot, ".svg") && !strings.HasSuffix(c.Plot, ".html") {
		return fmt.Errorf("--plot %s: name a file that ends in .svg or .html", c.Plot)
	}
	return nil
}

// print shows what was measured, though it may be less than was wanted.
func (c *benchLoadCommand) print(p *program, r *load.Report) error {
	if c.Plot != "" {
		draw := r.WriteSVG
		if strings.HasSuffix(c.Plot, ".html") {
			draw = r.WriteHTML
		}
		f, err := os.Create(c.Plot)
		if err != nil {
			return err
		}
		if err := errors.Join(draw(f), f.Close()); err != nil {
			return fmt.Errorf("draw %s: %w", c.Plot, err)
		}
	}
	if c.JSON {
		return r.WriteJSON(p.stdout)
	}
	return r.WriteTable(p.stdout)
}
