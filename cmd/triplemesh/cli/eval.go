package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/lab/calibrate"
	"github.com/triplemesh/triplemesh/lab/claims"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/eval"
	"github.com/triplemesh/triplemesh/lab/reader"
	"github.com/triplemesh/triplemesh/lab/report"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/reports"
)

// exitBudget is the exit code of evaluations that their budget ended.
const exitBudget = 5

// evalCommand is what one can do with evaluations: run them, where no other
// word follows, and look at the result of them.
type evalCommand struct {
	Evaluate  evalRunCommand       `cmd:"" name:"run" default:"withargs" help:"${eval_evaluate}"`
	Fetch     evalFetchCommand     `cmd:"" help:"Download published question sets and graphs from their authors."`
	Check     evalCheckCommand     `cmd:"" help:"Measure how well texts are checked, on claims made from facts."`
	Report    evalReportCommand    `cmd:"" help:"Write a report of evaluations: one page of HTML, or Markdown."`
	Diff      evalDiffCommand      `cmd:"" help:"${eval_diff}"`
	Pack      evalPackCommand      `cmd:"" help:"Write results in compressed form; report, diff and scorecard read it."`
	Scorecard evalScorecardCommand `cmd:"" help:"Compare results with stored thresholds; fail where one is missed."`
}

// evalRunCommand runs evaluations.
type evalRunCommand struct {
	eval.Command
	ServerFlags
}

func (evalRunCommand) Help() string {
	return "Exit codes: 0 done; 1 failed; 2 wrong usage, or a method that cannot be asked so; 4 no server reachable; " +
		"5 stopped by --max-calls, --max-tokens, --max-cost or --max-time with questions left."
}

// Run asks a mesh that runs, or one in this process.
func (c *evalRunCommand) Run(p *Program) error {
	evidenceReader, substitute, err := c.openReader()
	if err != nil {
		return ExitError{ExitUsage, err}
	}
	s, err := p.connect(c.Server, c.Local, substitute, mesh.StageNames()...)
	if err != nil {
		return err
	}
	if c.KG == "" && c.Suite == "" {
		kg, err := p.PickKG(p.Ctx, s)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		c.KG = kg.GetName()
	}
	c.Version, c.Prompts, c.SetsDir = p.version, promptFiles, setsDir(p)
	orchestrator := orchestratorv1.NewOrchestratorServiceClient(s)
	services := eval.Services{
		Asker: eval.AskerFunc(func(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse,
			error) {
			return orchestrator.Ask(ctx, req)
		}),
		Reader: evidenceReader,
	}
	end := p.askRetriever(&services, c.Retriever, s.Mesh)
	err = errors.Join(c.Command.Run(p.Ctx, services, p.Stdout, p.Stderr), end(), s.Close())
	var budget *eval.StoppedByBudget
	var refused *eval.RefusedError
	switch {
	case errors.As(err, &refused):
		return ExitError{ExitUsage, err}
	case errors.As(err, &budget):
		return ExitError{exitBudget, err}
	}
	return err
}

// openReader returns the reader that --reader names, and it as the substitute of a mesh; nil if the
// model reads.
func (c *evalRunCommand) openReader() (*reader.Reader, llm.Substitute, error) {
	if c.Reader == "" {
		return nil, nil, nil
	}
	r, err := reader.Parse(c.Reader)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("--reader: %w", err)
	case !c.Local:
		return nil, nil, errors.New("--reader: reads in place of the model of a mesh in this process; add --local")
	}
	return r, r, nil
}

// askRetriever lets an evaluation ask the retriever what the orchestrator does
// not tell: how far answers are from their questions, and which encoder made
// the vectors. Without a retriever that can be reached it goes without.
func (p *Program) askRetriever(services *eval.Services, addr string, m *mesh.Mesh) (end func() error) {
	var err error
	nothing := func() error { return nil }
	if m != nil {
		addr = m.Addr("retriever")
	} else if addr, err = p.reachable(addr, "retriever"); err != nil {
		return nothing
	}
	conn, err := p.Dial(addr, "retriever", telemetry.Discard())
	if err != nil {
		return nothing
	}
	services.Paths = retrieverv1.NewRetrieverServiceClient(conn)
	graphs := retrieverv1.NewKnowledgeGraphServiceClient(conn)
	services.Encoder = func(ctx context.Context, kg results.KG) string {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		snapshots, err := paging.KnowledgeGraphs(ctx, graphs, kg.Name)
		if err != nil {
			return ""
		}
		for _, s := range snapshots {
			if s.GetKg().GetSnapshot() == kg.Snapshot || kg.Snapshot == 0 && s.GetActive() {
				return s.GetEncoder()
			}
		}
		return ""
	}
	return conn.Close
}

// evalFetchCommand fetches question sets. It needs no server.
type evalFetchCommand struct{ dataset.FetchCommand }

func (c *evalFetchCommand) Run(p *Program) error {
	board := p.Board()
	defer board.Close()
	return c.FetchCommand.Run(p.Ctx, setsDir(p), board, p.Stdout)
}

// setsDir returns the folder of question sets.
func setsDir(p *Program) string { return filepath.Join(p.Home.Data, "sets") }

// evalCheckCommand measures how well texts are checked.
type evalCheckCommand struct {
	claims.Command
	ServerFlags
}

// Run asks a mesh that runs, or one in this process.
func (c *evalCheckCommand) Run(p *Program) error {
	if c.Questions != "" {
		return c.writeQuestions(p)
	}
	kg, err := ParseKG(c.KG)
	if err != nil {
		return usageError("--kg: %w", err)
	}
	s, err := p.Connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	if kg == nil {
		if kg, err = p.PickKG(p.Ctx, s); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	orchestrator := orchestratorv1.NewOrchestratorServiceClient(s)
	check := func(ctx context.Context, req *orchestratorv1.CheckRequest) (*orchestratorv1.CheckResponse, error) {
		return orchestrator.Check(ctx, req)
	}
	status := p.StatusLine()
	err = c.Command.Run(p.Ctx, check, kg, p.Stdout,
		func(done, all int) { status.Set("%d of %d claims checked", done, all) })
	status.Clear()
	return errors.Join(err, s.Close())
}

// writeQuestions writes questions about the claims to a file.
func (c *evalCheckCommand) writeQuestions(p *Program) error {
	written := 0
	if _, err := writeWhole(c.Questions, c.Force, func(out io.Writer) (err error) {
		written, err = c.Command.WriteQuestions(out)
		return err
	}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Stdout, "%s: %d questions\n", c.Questions, written)
	return err
}

// evalReportCommand writes a report. Like all that looks at results, it needs no server.
type evalReportCommand struct {
	report.Command
	Publish string `placeholder:"NAME" help:"${eval_report_publish}"`
}

func (c *evalReportCommand) Run(p *Program) error {
	if c.Publish != "" {
		if err := c.publish(p.Home.Reports()); err != nil {
			return err
		}
	}
	return c.Command.Run(p.Stdout)
}

// publish names a file among the reports of a mesh for the page. They hold
// questions, so that their directory is the user's alone.
func (c *evalReportCommand) publish(dir string) error {
	if c.Out != "" {
		return usageError("--publish and --out both say where the page goes: give one")
	}
	if err := reports.CheckName(c.Publish); err != nil {
		return usageError("--publish: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("--publish: make the directory of reports: %w", err)
	}
	c.Out = filepath.Join(dir, c.Publish+reports.Ending)
	return nil
}

type evalDiffCommand struct{ report.DiffCommand }

func (c *evalDiffCommand) Run(p *Program) error { return c.DiffCommand.Run(p.Stdout) }

type evalPackCommand struct{ report.PackCommand }

func (c *evalPackCommand) Run(p *Program) error { return c.PackCommand.Run(p.Stdout) }

type evalScorecardCommand struct{ report.ScorecardCommand }

func (evalScorecardCommand) Help() string {
	return "Exit codes: 0 every threshold is kept; 1 one is missed; 2 wrong usage, or results that a threshold needs " +
		"are not there."
}

func (c *evalScorecardCommand) Run(p *Program) error {
	err := c.ScorecardCommand.Run(p.Stdout)
	if _, ok := errors.AsType[*report.UsageError](err); ok {
		return ExitError{ExitUsage, err}
	}
	return err
}

type calibrateCommand struct {
	calibrate.Command
	Server    string `placeholder:"ADDR" env:"TRIPLEMESH_SERVER" help:"${server}"`
	Retriever string `placeholder:"ADDR" env:"TRIPLEMESH_RETRIEVER" help:"${retriever}"`
	Local     bool   `help:"Calibrate in this process, with no server."`
}

// Run calibrates the grounding of a mesh that runs, or of one in this process.
func (c *calibrateCommand) Run(p *Program) error {
	s, err := p.Connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	addr := c.Retriever
	if s.Mesh != nil {
		addr = s.Mesh.Addr("retriever")
	}
	r, err := p.Connect(addr, false, "retriever")
	if err != nil {
		return errors.Join(err, s.Close())
	}
	board := p.Board()
	defer board.Close()
	return errors.Join(c.Command.Run(p.Ctx, calibrate.Mesh{
		Asker:    orchestratorv1.NewOrchestratorServiceClient(s),
		Grounder: retrieverv1.NewRetrieverServiceClient(r),
		Graphs:   retrieverv1.NewKnowledgeGraphServiceClient(r),
	}, board, p.Stdout), r.Close(), s.Close())
}
