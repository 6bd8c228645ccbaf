package calibrate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// String says what a setting came to: "96.9 and 100.0 % at 16.2 triples".
func (p Point) String() string {
	return fmt.Sprintf("%.1f and %.1f %% at %.1f triples", 100*p.Tuning.Rate(), 100*p.Validation.Rate(),
		(p.Tuning.Triples+p.Validation.Triples)/2)
}

func base(path string) string { return filepath.Base(path) }

// print shows what each parameter does around the setting that was found, and
// what was chosen.
func (r *Result) print(out io.Writer, c *Command) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "chosen by\tothers\ttriples\tworth\t setting\n")
	for _, p := range r.Curve {
		mark := ""
		if p.Setting.String() == r.Chosen.Setting.String() {
			mark = "  <- chosen"
		}
		fmt.Fprintf(table, "%.1f %%\t%.1f %%\t%.1f\t%.3f\t %s%s\n", 100*p.Tuning.Rate(), 100*p.Validation.Rate(),
			(p.Tuning.Triples+p.Validation.Triples)/2, p.Tuning.worth(c.Price), p.Setting, mark)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print what was measured: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, encoder %s; %d questions to choose by and %d others. Answer in the ground graph:\n",
		r.KG, r.Encoder, r.Chosen.Tuning.Questions, r.Chosen.Validation.Questions)
	fmt.Fprintf(&b, "  default  %s\n  found    %s  (%s)\n", r.Default, r.Best, r.Best.Setting)
	fmt.Fprintf(&b, "Chosen: %s, since %s.\n", r.Chosen.Setting, r.Reason)
	if c.Out != "-" {
		fmt.Fprintf(&b, "retriever.grounding.%s is set in %s: start the services with --config %s.\n",
			r.KG, c.Out, c.Out)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
