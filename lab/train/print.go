package train

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
)

// Print prints what was trained on and how good the ranker is.
func (r *Result) Print(out io.Writer) error {
	for _, s := range r.Sets {
		fmt.Fprintf(out, "%s: %d of %d questions", filepath.Base(s.Name), s.Taken, s.Read)
		for _, left := range []struct {
			count int
			why   string
		}{{s.Unanswered, "without an answer"}, {s.Open, "with a free text as answer"},
			{s.Leaked, "also held back or in a test set: not trained on"}} {
			if left.count > 0 {
				fmt.Fprintf(out, "; %d %s", left.count, left.why)
			}
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "trained on %d questions (%d examples) in %.0f s, after %.0f s of reading paths; %d held back\n\n",
		r.Trained, r.Examples, r.FitSeconds, r.GatherSeconds, r.Held)
	if err := printEvaluations(out, r.Evaluations); err != nil {
		return err
	}
	if len(r.LeftOut) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nTrained on the other knowledge graphs:")
	return printEvaluations(out, r.LeftOut)
}

func printEvaluations(out io.Writer, all []Evaluation) error {
	fmt.Fprintln(out, "First path leads to an answer / one of the first three does / F1 of the first path, in %:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "questions\tgraph\ttopics\theld\tunranked\tpresent ranking\ttrained\tbest possible")
	for _, e := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", filepath.Base(e.Set), e.KG, e.Topics, e.Questions, e.Rough,
			e.Current, e.Trained, e.Reachable)
	}
	return w.Flush()
}

// String returns the figures in percent.
func (r Ranking) String() string {
	return fmt.Sprintf("%.1f / %.1f / %.1f", 100*r.First, 100*r.Three, 100*r.F1)
}
