package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable prints the rows, contest by contest.
func WriteTable(out io.Writer, rows []Row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	contest := ""
	for _, r := range rows {
		if r.Contest != contest {
			if err := w.Flush(); err != nil {
				return err
			}
			contest = r.Contest
			fmt.Fprintf(out, "\n%s\n", contest)
			fmt.Fprintln(w, "\tbest\tmedian\t\tratio\trecall\t ")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t %s\n", r.Name, number(r.Value), number(r.Median), r.Unit,
			ratio(r.Ratio), share(r.Recall), r.Note)
	}
	return w.Flush()
}

// WriteMarkdown prints the rows as tables of a document.
func WriteMarkdown(out io.Writer, rows []Row) error {
	contest := ""
	for _, r := range rows {
		if r.Contest != contest {
			contest = r.Contest
			fmt.Fprintf(out, "\n### %s\n\n| | best | median | | ratio | recall | "+
				"|\n|---|---:|---:|---|---:|---:|---|\n", strings.ToUpper(contest[:1])+contest[1:])
		}
		if _, err := fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", r.Name, number(r.Value),
			number(r.Median), r.Unit, ratio(r.Ratio), share(r.Recall), r.Note); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON prints the rows as scripts read them.
func WriteJSON(out io.Writer, rows []Row) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}

// number has three digits that count.
func number(v float64) string {
	switch {
	case v == 0:
		return ""
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func ratio(v float64) string {
	if v == 0 {
		return ""
	}
	return number(v) + "x"
}

func share(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.4f", v)
}
