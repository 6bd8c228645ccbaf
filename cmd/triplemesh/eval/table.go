package eval

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
)

// writeTable writes a summary for a person to read. What does not apply is
// left out.
func writeTable(w io.Writer, m Manifest, s Summary) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\n\n", title(m, s.N))
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	row := func(name, format string, value *float64, scale float64, note string) {
		if value != nil {
			fmt.Fprintf(columns, "%s\t"+format+"\t%s\n", name, *value*scale, note)
		}
	}
	share := func(name string, value *float64, note string) { row(name, "%.1f %%", value, 100, note) }
	amount := func(name string, value *float64, note string) { row(name, "%.1f", value, 1, note) }

	share("Hit", s.Hit, `papers call it "Hits@1"`)
	share("Hits@1", s.HitsAt1, "the first answer is right")
	share("Precision", s.Precision, "")
	share("Recall", s.Recall, "")
	share("F1", s.F1, "")
	share("Hit of the candidates", s.HitCandidates, "without evaluation and reflection")
	share("F1 of the candidates", s.F1Candidates, "without evaluation and reflection")
	share("Answer in hits", s.AnswerInHits, "")
	share("Answer in ground graph", s.AnswerInGround, "")
	share("Answer in fixed graph", s.AnswerInFixed, "")
	share("Answer in path ends", s.AnswerInPaths, "")
	share("Answer in candidates", s.AnswerInCandidates, "")
	amount("Ground triples a question", s.TriplesInGround, "")
	amount("Path ends a question", s.PathEnds, "")
	amount("Candidates a question", s.Candidates, "")
	amount("Calls a question", s.Calls, "")
	if s.CachedCalls != nil && *s.CachedCalls > 0 {
		amount("Cached calls a question", s.CachedCalls, "tokens and times are those of the other calls")
	}
	amount("Prompt tokens a question", s.PromptTokens, "")
	amount("Completion tokens a question", s.CompletionTokens, "")
	row("Median time", "%.2f s", s.P50, 0.001, "")
	row("95th percentile", "%.2f s", s.P95, 0.001, "")
	if s.Errors > 0 {
		fmt.Fprintf(columns, "Failed questions\t%d\tcounted as wrong; the same command asks them again\n", s.Errors)
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	// tabwriter pads the last column of rows that have no note.
	for line := range bytes.Lines(text.Bytes()) {
		if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimRight(line, " \n")); err != nil {
			return fmt.Errorf("write summary: %w", err)
		}
	}
	return nil
}

// title says what was evaluated, gold or linked entities included: figures
// with the one do not compare with figures with the other.
func title(m Manifest, n int) string {
	text := m.Method
	if m.KG != "" {
		text += " on " + m.KG
		if m.Snapshot != 0 {
			text += fmt.Sprintf("@%d", m.Snapshot)
		}
	}
	text += fmt.Sprintf(", %d questions of %s by seed %d", n, filepath.Base(m.Dataset), m.Seed)
	if m.GoldEntities {
		text += ", gold entities"
	} else {
		text += ", linked entities"
	}
	if m.Options.Until != "" {
		text += ", stopped after " + m.Options.Until
	}
	if m.Options.Verification != "" {
		text += ", verification " + m.Options.Verification
	}
	if m.Options.Reflection != "" {
		text += ", reflection " + m.Options.Reflection
	}
	if m.Options.Preset != "" {
		text += ", preset " + m.Options.Preset
	}
	return text
}
