package report

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/triplemesh/triplemesh/internal/terminal"
)

// ScorecardCommand is `triplemesh eval scorecard`: flags, and a Run that does what they
// say.
type ScorecardCommand struct {
	File      string   `arg:"" type:"path" help:"${scorecard_file}"`
	Dirs      []string `arg:"" name:"dir" type:"path" help:"Directories of results, or directories that hold several."`
	JSON      bool     `name:"json" help:"Print the comparison as JSON."`
	Update    bool     `help:"Rewrite the bounds of the scorecard from the results, less the tolerance."`
	Tolerance float64  `default:"0.02" placeholder:"T" help:"${scorecard_tolerance}"`
}

// MissedThresholdError says that thresholds were missed.
type MissedThresholdError struct {
	// Missed and All count thresholds.
	Missed, All int
}

// Error says how many.
func (e *MissedThresholdError) Error() string {
	return fmt.Sprintf("%d of %d thresholds missed", e.Missed, e.All)
}

// UsageError says that the comparison could not be made: the scorecard is none,
// or results that a threshold needs are not there.
type UsageError struct{ err error }

// Error says why.
func (e *UsageError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *UsageError) Unwrap() error { return e.err }

// Run prints each threshold with what the results say to it. The error is a
// *MissedError if one is missed, and a *UsageError where one could not be
// compared.
func (c *ScorecardCommand) Run(stdout io.Writer) error {
	if c.Tolerance < 0 || !(c.Tolerance < 1) {
		return &UsageError{fmt.Errorf("--tolerance: must be at least 0 and below 1, is %v", c.Tolerance)}
	}
	evaluations, err := OpenEvaluations(c.Dirs)
	if err != nil {
		return &UsageError{err}
	}
	if c.Update {
		changed, added, err := UpdateThresholds(c.File, evaluations, c.Tolerance)
		if err != nil {
			return &UsageError{err}
		}
		_, err = fmt.Fprintf(stdout, "%s  thresholds: %d changed, %d added\n", c.File, changed, added)
		return err
	}
	thresholds, err := ReadThresholds(c.File)
	if err != nil {
		return &UsageError{err}
	}
	checks := CheckThresholds(thresholds, evaluations)
	print := printTable
	if c.JSON {
		print = printJSON
	}
	if err := print(stdout, checks); err != nil {
		return fmt.Errorf("write scorecard: %w", err)
	}
	missed, unknown := 0, 0
	for _, check := range checks {
		switch {
		case check.Problem != "":
			unknown++
		case !check.Pass:
			missed++
		}
	}
	switch {
	case unknown > 0:
		return &UsageError{fmt.Errorf("%d of %d thresholds could not be compared, %d missed", unknown,
			len(checks), missed)}
	case missed > 0:
		return &MissedThresholdError{missed, len(checks)}
	}
	return nil
}

func printJSON(w io.Writer, checks []ThresholdCheck) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string][]ThresholdCheck{"thresholds": checks})
}

func printTable(w io.Writer, checks []ThresholdCheck) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range checks {
		verdict := "miss"
		switch {
		case c.Problem != "":
			verdict = "unknown"
		case c.Pass:
			verdict = "pass"
		}
		on := c.Dataset
		if c.KG != "" {
			on += " on " + c.KG
		}
		got := c.Problem
		if c.Got != nil {
			got = figureText(c.Got.Value)
			if c.Got.Low != c.Got.High {
				got += fmt.Sprintf(" (%s to %s)", figureText(c.Got.Low), figureText(c.Got.High))
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", verdict, terminal.Line(on, 60), terminal.Line(c.Method, 60),
			c.Metric,
			c.describe(), terminal.Line(got, 400))
	}
	return table.Flush()
}

// describe says what a threshold asks for.
func (t Threshold) describe() string {
	which := ""
	if t.Interval != "" {
		which = t.Interval + " bound "
	}
	if t.AtLeast != nil {
		return which + "at least " + figureText(*t.AtLeast)
	}
	return which + "at most " + figureText(*t.AtMost)
}

func figureText(v float64) string { return fmt.Sprintf("%.4g", v) }
