package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/diff"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/report"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/scorecard"
	"github.com/triplemesh/triplemesh/services/orchestrator/reports"
)

// evalReportCommand writes a report. Like all that looks at results, it needs no
// server.
type evalReportCommand struct {
	report.Command
	Publish string `placeholder:"NAME" help:"Write the page, under this name, where the console finds it. Whoever may ask the mesh may read it."`
}

// Run writes the report.
func (c *evalReportCommand) Run(p *program) error {
	if c.Publish != "" {
		if err := c.publish(p.home.Reports()); err != nil {
			return err
		}
	}
	return c.Command.Run(p.stdout)
}

// publish names a file among the reports of a mesh for the page. They hold
// questions, so that their directory is the user's alone.
func (c *evalReportCommand) publish(dir string) error {
	if c.Out != "" {
		return exitError{exitUsage, errors.New("--publish and --out both say where the page goes: give one")}
	}
	if err := reports.CheckName(c.Publish); err != nil {
		return exitError{exitUsage, fmt.Errorf("--publish: %w", err)}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("--publish: make the directory of reports: %w", err)
	}
	c.Out = filepath.Join(dir, c.Publish+reports.Ending)
	return nil
}

type evalDiffCommand struct{ diff.Command }

// Run prints the difference.
func (c *evalDiffCommand) Run(p *program) error { return c.Command.Run(p.stdout) }

type evalScorecardCommand struct{ scorecard.Command }

// Help is printed below the flags.
func (evalScorecardCommand) Help() string {
	return "Exit codes: 0 every threshold is kept; 1 one is missed; 2 wrong usage, or results that a threshold needs are not there."
}

// Run compares results with the thresholds.
func (c *evalScorecardCommand) Run(p *program) error {
	err := c.Command.Run(p.stdout)
	var usage *scorecard.UsageError
	if errors.As(err, &usage) {
		return exitError{exitUsage, err}
	}
	return err
}
