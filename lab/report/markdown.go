package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/triplemesh/triplemesh/internal/terminal"
)

// Markdown writes the tables of the report, without plots and questions.
func (r *Report) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n%s\n", inline(r.Title), inline(strings.Join(r.Lead, " · ")))
	for _, t := range r.Overviews {
		fmt.Fprintf(b, "\n## %s\n\n", inline(t.Caption))
		t.markdown(b)
	}
	for _, s := range r.Sections {
		fmt.Fprintf(b, "\n## %s\n\n%s.\n\n", inline(s.Title), inline(s.Note))
		for _, warning := range s.Warnings {
			fmt.Fprintf(b, "> **Warning:** %s\n\n", inline(warning))
		}
		s.Scores.markdown(b)
		if len(s.Funnels) > 0 {
			fmt.Fprintf(b, "\n### Where questions are lost\n\n")
			for _, f := range s.Funnels {
				fmt.Fprintf(b, "- **%s**: %s\n", inline(f.Title), inline(f.Note))
			}
		}
		for _, t := range []*Table{s.Steps, s.Stages} {
			if t != nil {
				fmt.Fprintf(b, "\n### %s\n\n", inline(t.Caption))
				t.markdown(b)
			}
		}
	}
	for _, t := range []Table{r.Leaks, r.Sources} {
		fmt.Fprintf(b, "\n## %s\n\n", inline(t.Caption))
		t.markdown(b)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// markdown writes the table as GitHub's Markdown has it.
func (t *Table) markdown(w io.Writer) {
	if t.Note != "" {
		fmt.Fprintf(w, "%s\n\n", inline(t.Note))
	}
	for _, c := range t.Columns {
		fmt.Fprintf(w, "| %s ", inline(c.Name))
	}
	fmt.Fprint(w, "|\n")
	for _, c := range t.Columns {
		if c.Text {
			fmt.Fprint(w, "|---")
		} else {
			fmt.Fprint(w, "|--:")
		}
	}
	fmt.Fprint(w, "|\n")
	for _, row := range t.Rows {
		for _, cell := range row {
			text := inline(cell.Text)
			switch {
			case text == "":
				text = "–"
			case cell.Best:
				text = "**" + text + "**"
			}
			if cell.Below != "" {
				text += " (" + inline(strings.ReplaceAll(cell.Below, "\n", ", ")) + ")"
			}
			fmt.Fprintf(w, "| %s ", text)
		}
		fmt.Fprint(w, "|\n")
	}
}

var escapes = strings.NewReplacer(
	"\\", `\\`, "$", `\$`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`, "#", `\#`, "~", `\~`, "!", `\!`,
)

// inline keeps a text from meaning anything to Markdown, or to a terminal on
// which the report is looked at.
func inline(text string) string { return escapes.Replace(terminal.Clean(text)) }
