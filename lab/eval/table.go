package eval

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/triplemesh/triplemesh/lab/results"
)

// writePage writes all figures of one evaluation for a person to read, and what
// its stages took. What does not apply is left out.
func writePage(w io.Writer, s *summed) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\n\n", title(s))
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, f := range results.Figures() {
		figure, applies := s.Summary.Figures[f.Key]
		if !applies || f.Key == "cached_calls_per_question" && figure.Value == 0 || f.Unit == results.Dollars &&
			figure.Value == 0 {
			continue
		}
		fmt.Fprintf(columns, "%s\t%s\t%s to %s\t%s\n", f.Title, f.Unit.Format(figure.Value), f.Unit.Format(figure.Low),
			f.Unit.Format(figure.High), f.Note)
	}
	if s.Summary.Failed > 0 {
		fmt.Fprintf(columns, "Failed questions\t%d\t\tcounted as wrong; the same command asks them again\n",
			s.Summary.Failed)
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	if len(s.Summary.Stages) > 0 {
		fmt.Fprintf(&text, "\nWhat stages take of a question, cached calls included\n\n")
		writeStages(&text, s.Summary.Stages)
	}
	fmt.Fprintf(&text, "\n%s\n", leakLine(s.Manifest))
	return trimmed(w, text.Bytes())
}

func writeStages(text *bytes.Buffer, stages []results.StageSummary) {
	columns := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "Stage\tRuns\tCalls\tCached\tPrompt tokens\tCompletion tokens\tMedian\t95th percentile")
	for _, s := range stages {
		fmt.Fprintf(columns, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%s\t%s\n", s.Name, s.Runs, s.Calls+s.CachedCalls,
			s.CachedCalls,
			s.PromptTokens+s.CachedPromptTokens, s.CompletionTokens+s.CachedCompletionTokens, seconds(s.P50),
			seconds(s.P95))
	}
	columns.Flush()
}

func seconds(ms *float64) string {
	if ms == nil {
		return "cached"
	}
	return results.Milliseconds.Format(*ms)
}

// tabled are the keys of the figures that a table of several evaluations has;
// one column each.
var tabled = []string{"f1", "hits_at_1", "hit", "rouge_l", "answers_per_question",
	"method_calls_per_question", "cached_calls_per_question",
	"method_tokens_per_question",
	"cost_usd_per_question", "p50_ms", "p95_ms"}

// writeTable writes one row for each of several evaluations, each figure with
// its interval, and how it compares with the first one of the same questions.
// Those with gold topic entities have a table of their own.
func writeTable(w io.Writer, sums []*summed) error {
	var text bytes.Buffer
	for _, gold := range []bool{false, true} {
		rows := slices.DeleteFunc(slices.Clone(sums), func(s *summed) bool {
			return (s.Manifest.Entities() == results.Gold) != gold
		})
		if len(rows) == 0 {
			continue
		}
		if text.Len() > 0 {
			fmt.Fprint(&text, "\nWith gold topic entities\n\n")
		}
		if err := writeRows(&text, rows); err != nil {
			return err
		}
	}
	fmt.Fprint(&text, "\nIn brackets: 95 % bootstrap intervals, by cluster where questions share one. Hit is what "+
		"papers call \"Hits@1\" and grows with every answer given. p is corrected for the number of comparisons "+
		"(Holm). Calls and tokens are all that the method takes, cached ones included; cost is that of calls that "+
		"reached a model; times are of runs without cached calls.\n")
	for _, s := range sums {
		if leaks := s.Manifest.Leak; leaks != nil && len(leaks.Pairs) > 0 {
			fmt.Fprintf(&text, "%s: %s\n", s.Name, leakLine(s.Manifest))
		}
	}
	return trimmed(w, text.Bytes())
}

func writeRows(text io.Writer, sums []*summed) error {
	figures := slices.DeleteFunc(results.Figures(), func(f results.Figure) bool {
		return !f.IsOneOf(tabled) || !slices.ContainsFunc(sums, func(s *summed) bool {
			figure, applies := s.Summary.Figures[f.Key]
			return applies && (figure.Value != 0 || f.Unit == results.Share)
		})
	})
	columns := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprint(columns, "Questions\tKG\tMethod\tEntities\tN\tFailed")
	for _, f := range figures {
		fmt.Fprintf(columns, "\t%s", strings.TrimSuffix(strings.TrimSuffix(f.Title, " a question"), " of the method"))
	}
	fmt.Fprint(columns, "\tAgainst the first\n")
	for _, s := range sums {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%d", s.Manifest.Dataset.Name, dash(graphs(s.Manifest, "+")),
			s.Manifest.Variant(),
			s.Manifest.Entities(), describeQuestions(s), s.Summary.Failed)
		for _, f := range figures {
			figure, applies := s.Summary.Figures[f.Key]
			if !applies {
				fmt.Fprint(columns, "\t-")
				continue
			}
			fmt.Fprintf(columns, "\t%s (%s–%s)", f.Unit.Format(figure.Value), bare(f.Unit.Format(figure.Low)),
				bare(f.Unit.Format(figure.High)))
		}
		fmt.Fprintf(columns, "\t%s\n", against(s.Against))
	}
	return columns.Flush()
}

// against returns the difference of the first figure compared, with how likely it
// is to be chance.
func against(c *comparison) string {
	if c == nil {
		return "-"
	}
	for _, f := range results.Figures() {
		if result, there := c.Figures[f.Key]; there {
			return fmt.Sprintf("%s %+.1f (%+.1f–%+.1f), p %.3f", f.Title, 100*result.Difference.Mean,
				100*result.Difference.Low, 100*result.Difference.High, result.Corrected)
		}
	}
	return "-"
}

// title says what was evaluated, gold or linked entities included: figures
// with the one do not compare with figures with the other.
func title(s *summed) string {
	m := s.Manifest
	text := m.Method
	if kgs := graphs(m, " and "); kgs != "" {
		text += " on " + kgs
	}
	if m.Part != "" && m.Part != "all" {
		text += ", part " + m.Part
	}
	text += fmt.Sprintf(", %s questions of %s by seed %d", describeQuestions(s), m.Dataset.Name, m.Seed)
	if from := m.Entities(); from != results.NoEntities {
		text += ", " + from + " entities"
	}
	for _, option := range m.Options.List() {
		text += ", " + option[0] + " " + option[1]
	}
	if m.Reader != "" {
		text += ", reader " + m.Reader
	}
	return text
}

func describeQuestions(s *summed) string {
	if s.Left > 0 {
		return fmt.Sprintf("%d of %d", s.Summary.N, s.Summary.N+s.Left)
	}
	return fmt.Sprint(s.Summary.N)
}

func graphs(m results.Manifest, between string) string {
	var kgs []string
	for _, kg := range m.KGs() {
		kgs = append(kgs, kg.String())
	}
	return strings.Join(kgs, between)
}

func leakLine(m results.Manifest) string {
	switch {
	case m.Leak == nil:
		return "Few-shot examples were not compared with the questions."
	case len(m.Leak.Pairs) == 0:
		return fmt.Sprintf("None of the %s is among the questions.", m.Leak.Looked())
	}
	return fmt.Sprintf("Few-shot examples are among the questions, or nearly so (%d pairs): the figures are too good.",
		len(m.Leak.Pairs))
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// bare leaves a unit out that stands before.
func bare(text string) string {
	for _, unit := range []string{" %", " s"} {
		text = strings.TrimSuffix(text, unit)
	}
	return strings.TrimPrefix(text, "$")
}

// trimmed writes text without the spaces with which tabwriter pads the last
// column.
func trimmed(w io.Writer, text []byte) error {
	for line := range bytes.Lines(text) {
		if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
