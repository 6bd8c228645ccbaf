package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/results"
)

// DiffCommand is `triplemesh eval diff`: flags, and a Run that does what they say.
type DiffCommand struct {
	A     string `arg:"" type:"path" help:"Directory of the results to compare with."`
	B     string `arg:"" type:"path" help:"Directory of the results to compare."`
	JSON  bool   `name:"json" help:"Print everything as JSON."`
	Limit int    `default:"20" placeholder:"N" help:"Print the first N questions of each kind; 0 prints all."`
}

// Run prints how B differs from A.
func (c *DiffCommand) Run(stdout io.Writer) error {
	if c.Limit < 0 {
		return fmt.Errorf("--limit: must be at least 0, is %d", c.Limit)
	}
	a, err := OpenEvaluation(c.A)
	if err != nil {
		return err
	}
	b, err := OpenEvaluation(c.B)
	if err != nil {
		return err
	}
	d, err := CompareEvaluations(a, b)
	if err != nil {
		return err
	}
	if !c.JSON {
		return d.write(stdout, c.Limit)
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// write prints the difference for a person.
func (d *Diff) write(w io.Writer, limit int) error {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, s := range []struct {
		letter string
		DiffSide
	}{{"A", d.A}, {"B", d.B}} {
		on := s.Dataset
		if s.KG != "" {
			on += " on " + s.KG
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s, %d failed\t%s\n", s.letter, line(s.Name), line(on),
			kgtext.FormatCount(s.N, "question"), s.Failed, line(s.Dir))
	}
	table.Flush()
	for _, warning := range d.Warnings {
		fmt.Fprintf(&text, "warning: %s\n", line(warning))
	}
	fmt.Fprintf(&text, "\n%s in common\n\n", kgtext.FormatCount(d.Common, "question"))
	numbers := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(numbers, "A\tB\tB − A\t95 % interval\tp (Holm)\t\n")
	for _, s := range d.Scores {
		fmt.Fprintf(numbers, "%.1f\t%.1f\t%+.1f\t%+.1f to %+.1f\t%s\t  %s %%\n", s.A*100, s.B*100,
			s.Difference.Value*100, s.Difference.Low*100, s.Difference.High*100, probability(s.Corrected), s.Title)
	}
	for _, c := range d.Costs {
		if zero(c.A) && zero(c.B) {
			continue
		}
		change := ""
		if c.A != nil && c.B != nil {
			change = signed(c.Unit, *c.B-*c.A)
		}
		fmt.Fprintf(numbers, "%s\t%s\t%s\t\t\t  %s\n", diffValue(c.Unit, c.A), diffValue(c.Unit, c.B), change, c.Title)
	}
	numbers.Flush()
	for _, list := range []struct {
		title   string
		changes []DiffChange
	}{{"Right now, wrong before", d.Better}, {"Wrong now, right before", d.Worse}, {"Better, though as right as before",
		d.Up}, {"Worse, though as right as before", d.Down}} {
		writeChanges(&text, list.title, list.changes, limit)
	}
	for line := range bytes.Lines(text.Bytes()) {
		if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimRight(line, " \n")); err != nil {
			return fmt.Errorf("write comparison: %w", err)
		}
	}
	return nil
}

// zero says that a figure is 0 or not there, such as a cost without prices.
func zero(v *float64) bool { return v == nil || *v == 0 }

func writeChanges(w io.Writer, title string, changes []DiffChange, limit int) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s: %s\n", title, kgtext.FormatCount(len(changes), "question"))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, c := range changes {
		if i == limit && limit > 0 {
			fmt.Fprintf(table, "  and %d more: --limit 0 prints all\n", len(changes)-i)
			break
		}
		var how []string
		if c.LostA != c.LostB {
			how = append(how, orRight(c.LostA)+" → "+orRight(c.LostB))
		}
		if c.A != c.B {
			how = append(how, fmt.Sprintf("%.2f → %.2f", c.A, c.B))
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", terminal.Line(c.ID, 24), terminal.Line(c.Question, 70),
			terminal.Line(strings.Join(c.Answers, ", "), 30), strings.Join(how, ", "))
	}
	table.Flush()
}

func line(text string) string { return terminal.Line(text, 200) }

func orRight(loss string) string {
	if loss == "" {
		return "right"
	}
	return loss
}

func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

func diffValue(unit results.Unit, v *float64) string {
	if v == nil {
		return "–"
	}
	return strings.TrimPrefix(signed(unit, *v), "+")
}

func signed(unit results.Unit, v float64) string {
	switch unit {
	case results.Milliseconds:
		return fmt.Sprintf("%+.2f s", v/1000)
	case results.Dollars:
		return fmt.Sprintf("%+.5f USD", v)
	}
	return fmt.Sprintf("%+.1f", v)
}
