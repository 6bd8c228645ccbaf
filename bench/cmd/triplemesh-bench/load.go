package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/bench/load"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type loadCommand struct {
	cli.ServerFlags
	scriptedFlags
	Rate      string        `default:"10" placeholder:"LIST" help:"${rate_help}"`
	Duration  time.Duration `default:"30s" help:"How long each rate lasts."`
	Overload  bool          `help:"${overload_help}"`
	Times     []float64     `default:"2,5" help:"Times the capacity, for --overload."`
	Find      time.Duration `default:"5s" help:"${find_help}"`
	Method    []string      `default:"pg-akv" placeholder:"NAME,…" help:"Methods, by turns."`
	Questions string        `type:"existingfile" placeholder:"FILE" help:"${questions_help}"`
	KG        string        `name:"kg" placeholder:"NAME[@N]" help:"${load_kg}"`
	Timeout   time.Duration `default:"30s" help:"Deadline of a question, from its scheduled time."`
	InFlight  int           `default:"4096" help:"${in_flight_help}"`
	Heedless  bool          `help:"Disable client-side throttling, which drops questions while many are refused."`
	Even      bool          `help:"Ask at even intervals; otherwise at those of a Poisson process."`
	Seed      uint64        `default:"1" help:"Seed of the intervals."`
	Tenant    []string      `placeholder:"WEIGHT[:FILE]" help:"${tenant_help}"`
	JSON      bool          `name:"json" help:"Print the results as JSON."`
	Plot      string        `type:"path" placeholder:"FILE" help:"Draw the run into FILE, .svg or .html."`
}

// Help returns the text below the flags.
func (loadCommand) Help() string {
	return "Questions come whether or not those before are answered, and their time counts from when they should " +
		"have been asked, so that a mesh that stalls does not slow down who measures it. Ctrl-C prints what was " +
		"measured so far. What is asked is not kept as runs."
}

// Run asks a mesh that runs, one in this process, or one with a scripted model.
func (c *loadCommand) Run(p *cli.Program) error {
	rates, err := load.ParseRates(c.Rate)
	if err != nil {
		return cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("--rate: %w", err)}
	}
	if err := c.checkPlot(); err != nil {
		return cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	o := load.Options{Timeout: c.Timeout, MaxInFlight: c.InFlight, Even: c.Even, Seed: c.Seed}
	end, err := c.prepare(p, &o)
	if err != nil {
		return err
	}
	line := p.StatusLine()
	o.Tell = func(s load.Second) {
		line.Set("second %d: %d asked, %d answered wholly, %d refused", s.At, s.Sent, s.Came, s.Refused)
	}
	report, err := c.measure(p, o, rates)
	line.Clear()
	err = errors.Join(err, end())
	if report == nil {
		return err
	}
	return errors.Join(err, c.print(p, report))
}

func (c *loadCommand) measure(p *cli.Program, o load.Options, rates []float64) (*load.Report, error) {
	if err := o.Validate(); err != nil {
		return nil, cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	if c.Overload {
		return load.Overload(p.Ctx, o, load.Plan{From: rates[0], Find: c.Find, Times: c.Times, Hold: c.Duration})
	}
	var steps []load.Step
	for _, rate := range rates {
		steps = append(steps, load.Step{Rate: rate, Length: c.Duration})
	}
	return load.Run(p.Ctx, o, steps)
}

// prepare finds who is asked what, and by whom. The caller calls end.
func (c *loadCommand) prepare(p *cli.Program, o *load.Options) (end func() error, err error) {
	tenants, err := parseTenants(c.Tenant)
	if err != nil {
		return nil, cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	server, kg, endMesh := c.Server, &graphv1.KnowledgeGraphRef{Name: scriptedKG}, func() error { return nil }
	questions := scriptedQuestions()
	if c.Scripted {
		if server, endMesh, err = c.scriptedFlags.start(p, tenants); err != nil {
			return nil, err
		}
		p.Access = cli.AccessFlags{}
	} else {
		if c.Questions == "" {
			return nil, cli.ExitError{Code: cli.ExitUsage,
				Err: errors.New(
					"name a file of questions with --questions, or take a mesh and questions of its own with " +
						"--scripted")}
		}
		if questions, err = load.ReadQuestions(c.Questions); err != nil {
			return nil, cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("--questions: %w", err)}
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
		as.Unthrottled = c.Heedless
		if t.file != "" {
			as.Access.TokenFlags.Token, as.Access.TokenFlags.TokenFile = "", t.file
		}
		s, err := as.Connect(server, c.Local, mesh.StageNames()...)
		if err != nil {
			return nil, errors.Join(err, end())
		}
		closers = append(closers, s.Close)
		if !c.Scripted && c.KG == "" {
			if kg, err = as.PickKG(p.Ctx, s); err != nil {
				return nil, errors.Join(err, end())
			}
		}
		asker := orchestratorv1.NewOrchestratorServiceClient(s)
		o.Tenants = append(o.Tenants, load.Tenant{Name: t.name, Weight: t.weight, Ask: func(ctx context.Context,
			req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
			return asker.Ask(ctx, req)
		}})
	}
	if c.KG != "" {
		if kg, err = cli.ParseKG(c.KG); err != nil {
			return nil, errors.Join(cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("--kg: %w", err)}, end())
		}
	}
	o.Question = load.Rotate(questions, c.Method, kg)
	return end, nil
}

func (c *loadCommand) checkPlot() error {
	if c.Plot != "" && !strings.HasSuffix(c.Plot, ".svg") && !strings.HasSuffix(c.Plot, ".html") {
		return fmt.Errorf("--plot %s: name a file that ends in .svg or .html", c.Plot)
	}
	return nil
}

// print shows what was measured, though it may be less than was wanted.
func (c *loadCommand) print(p *cli.Program, r *load.Report) error {
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
		return r.WriteJSON(p.Stdout)
	}
	return r.WriteTable(p.Stdout)
}
