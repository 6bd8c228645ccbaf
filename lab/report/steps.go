package report

import (
	"fmt"

	"github.com/triplemesh/triplemesh/lab/results"
)

// stepKeys are the figures of what methods make on their way.
var stepKeys = []string{
	"answer_in_hits", "answer_in_ground", "answer_in_fixed", "answer_in_paths", "answer_in_candidates",
	"hits_per_question", "triples_in_ground_per_question", "triples_in_fixed_per_question",
	"edits_right_per_question", "edits_wrong_per_question",
	"path_ends_per_question", "candidates_per_question", "hit_candidates", "f1_candidates",
}

// steps returns the table of what the methods made on their way.
func (s *Section) steps() *Table {
	all := figures()
	t := &Table{
		Caption: "On the way to the answer",
		Note: "In how many per cent of the questions a right answer was an entity of each graph, with 95 % " +
			"intervals, and how large the graphs were. An edit mends where it brings a right answer in or deletes a " +
			"draft by evidence that has one, and spoils where it takes one out.",
		Columns: []Column{{Name: "Method", Text: true}},
	}
	var keys []string
	for _, key := range stepKeys {
		if s.anyHasFigure(key) {
			keys = append(keys, key)
			name := all[key].Title
			if all[key].Unit == results.Share {
				name += " %"
			}
			t.Columns = append(t.Columns, Column{Name: name, Note: all[key].Note})
		}
	}
	for i, e := range s.group.Evaluations {
		row := []Cell{{Text: e.Name}}
		there := false
		for _, key := range keys {
			cell := figureCell(all[key], e, s.marks[i])
			if key == "edits_right_per_question" || key == "edits_wrong_per_question" {
				if cell.Text != "" {
					v := e.Summary.Figures[key]
					cell = Cell{Text: fmt.Sprintf("%.2f", v.Value), Below: fmt.Sprintf("%s in all",
						thousands(total(e.Records, all[key])))}
				}
			}
			there = there || cell.Text != ""
			row = append(row, cell)
		}
		if there {
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// total returns the sum of a figure over the questions.
func total(records []results.Record, f results.Figure) float64 {
	sum := 0.0
	for _, r := range records {
		if v, applies := f.Of(r); applies {
			sum += v
		}
	}
	return sum
}

// stages returns the table of what each stage costs.
func (s *Section) stages() *Table {
	t := &Table{
		Caption: "Cost by stage",
		Note: "Means over the runs that came to the stage. Tokens, cost and times are those of calls that reached " +
			"a model server.",
		Columns: []Column{{Name: "Method", Text: true}, {Name: "Stage", Text: true}, {Name: "Runs"}, {Name: "Calls"},
			{Name: "Cached"}, {Name: "Tokens read"}, {Name: "Tokens written"}},
	}
	priced := s.priced()
	if priced {
		t.Columns = append(t.Columns, Column{Name: "Cost"})
	}
	t.Columns = append(t.Columns, Column{Name: "p50"}, Column{Name: "p95"})
	for _, e := range s.group.Evaluations {
		for _, stage := range e.Summary.Stages {
			row := words(e.Name, stage.Name, thousands(float64(stage.Runs)), amount(stage.Calls),
				amount(stage.CachedCalls), amount(stage.PromptTokens), amount(stage.CompletionTokens))
			if priced {
				row = append(row, Cell{Text: dollars(stage.USD)})
			}
			for _, ms := range []*float64{stage.P50, stage.P95} {
				cell := Cell{}
				if ms != nil {
					cell.Text = seconds(*ms)
				}
				row = append(row, cell)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}
