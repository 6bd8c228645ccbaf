package load

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable prints a report for people: a line for each step, then its stages,
// refusals and tenants.
func (r *Report) WriteTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "step\trate/s\tsent\tunsent\twhole\tpartial\tlate\trefused\tfailed\tgoodput/s\tp50 "+
		"ms\tp90\tp99\tmax\t")
	for _, s := range r.Steps {
		line(w, s.Name, number(s.Rate), number(s.Goodput), s.Figures)
		for _, t := range s.Tenants {
			line(w, t.Name, "", number(t.WholePerSecond), t.Figures)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := r.writeStages(out); err != nil {
		return err
	}
	for _, s := range r.Steps {
		for _, said := range s.notes() {
			fmt.Fprintf(out, "%s: %s\n", s.title(), said)
		}
	}
	if o := r.Overload; o != nil {
		fmt.Fprintf(out, "capacity: %s whole answers per second\n", number(o.Capacity))
		for _, k := range o.Kept {
			fmt.Fprintf(out, "at %gx: %.0f %% of the goodput at 1x\n", k.Times, 100*k.Share)
		}
		if o.Recovery < 0 {
			fmt.Fprintln(out, "after the burst it did not become as before while it was looked at")
		} else {
			fmt.Fprintf(out, "as before %s s after the burst\n", number(o.Recovery))
		}
	}
	return nil
}

func line(w io.Writer, name, rate, goodput string, f Figures) {
	fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t\n", name, rate, f.Sent, f.Unsent, f.Whole,
		f.Partial, f.Late, f.Refused, f.Failed,
		goodput, number(f.Latency.P50), number(f.Latency.P90), number(f.Latency.P99), number(f.Latency.Max))
}

// writeStages prints the times of the stages, step beside step.
func (r *Report) writeStages(out io.Writer) error {
	var names []string
	for _, s := range r.Steps {
		for _, stage := range s.Stages {
			if !slices.Contains(names, stage.Stage) {
				names = append(names, stage.Stage)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\nstage, p50 and p99 in ms\t")
	for _, s := range r.Steps {
		fmt.Fprintf(w, "%s\t", s.title())
	}
	fmt.Fprintln(w)
	for _, name := range names {
		fmt.Fprintf(w, "%s\t", name)
		for _, s := range r.Steps {
			i := slices.IndexFunc(s.Stages, func(f StageFigures) bool { return f.Stage == name })
			if i < 0 {
				fmt.Fprint(w, "\t")
				continue
			}
			fmt.Fprintf(w, "%s  %s\t", number(s.Stages[i].P50), number(s.Stages[i].P99))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

func (s Result) title() string {
	if s.Name != "" {
		return s.Name
	}
	return number(s.Rate) + "/s"
}

// notes returns the things about a step that have no column.
func (s Result) notes() (lines []string) {
	for _, r := range s.Refusals {
		when := "without saying when to come again"
		if r.RetryInfo {
			when = "saying when to come again"
		}
		by := ""
		if r.ByClient {
			by = " by the client itself"
		}
		lines = append(lines, fmt.Sprintf("%d refused%s as %s, %s, after %s ms at the median and %s at the 99th "+
			"percentile", r.Count, by, r.Code, when, number(s.RefusalLatency.P50), number(s.RefusalLatency.P99)))
	}
	var codes []string
	for code, n := range s.Failures {
		codes = append(codes, fmt.Sprintf("%d as %s", n, code))
	}
	if len(codes) > 0 {
		slices.Sort(codes)
		lines = append(lines, "failed: "+strings.Join(codes, ", "))
	}
	if s.Unsent > 0 {
		lines = append(lines, fmt.Sprintf("%d were not asked: as many were under way as may be (--in-flight)",
			s.Unsent))
	}
	if s.Cut > 0 {
		lines = append(lines, fmt.Sprintf("%d were under way when it was interrupted", s.Cut))
	}
	if late := s.Behind.P99; late > 50 {
		lines = append(lines, fmt.Sprintf("questions were asked up to %s ms later than they should have been (99th "+
			"percentile): this machine is too busy to ask so many", number(late)))
	}
	return lines
}

// number has three digits that count.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
